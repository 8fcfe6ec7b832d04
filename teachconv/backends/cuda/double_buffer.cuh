/* double_buffer.cuh: the loop that implicit_gemm.cu and tensor_gemm.cu share. An Engine multiplies.

     load chunk 0 into registers, and from there to shared memory
     for each chunk
       load the next chunk into registers                  (the loads overlap ...)
       the engine multiplies the chunk in shared memory    (... with the arithmetic)
       store the registers to the other buffer; wait for all threads; swap the buffers

   One barrier a chunk: behind it the next chunk is complete, and everybody is done with the buffer that is stored to next. */

#ifndef TEACHCONV_DOUBLE_BUFFER_CUH
#define TEACHCONV_DOUBLE_BUFFER_CUH

template <class Engine, class Tile> DEVICE void multiply(Tile tile) {
    typedef typename Engine::Factor Factor;
    __shared__ __align__(32) Factor a[2][TILE_DEPTH][TILE_ROWS + Engine::SPARE], b[2][TILE_DEPTH][TILE_COLS + Engine::SPARE];
    typedef typename Tile::A A;
    typedef typename Tile::B B;
    Number a_next[A::ITEMS], b_next[B::ITEMS];
    Engine engine;
    auto load = [&] {
#pragma unroll
        for (int i = 0; i < A::ITEMS; i++) a_next[i] = tile.has_a(i) ? tile.first[tile.a(i)] : narrow(0);
#pragma unroll
        for (int i = 0; i < B::ITEMS; i++) b_next[i] = tile.has_b(i) ? tile.second[tile.b(i)] : narrow(0);
    };
    auto keep = [&](int buffer) {
#pragma unroll
        for (int i = 0; i < A::ITEMS; i++) a[buffer][A::k()][A::row(i)] = Engine::factor(a_next[i]);
#pragma unroll
        for (int i = 0; i < B::ITEMS; i++) b[buffer][B::k()][B::row(i)] = Engine::factor(b_next[i]);
    };
    load();
    keep(0);
    __syncthreads();
    for (Index chunk = 0; chunk < tile.chunks; chunk++) {
        const int buffer = (int)(chunk % 2);
        const bool more = chunk + 1 < tile.chunks;
        if (more) tile.next_chunk(), load();
        engine.multiply(a[buffer], b[buffer]);
        if (more) keep(buffer ^ 1);
        __syncthreads();
    }
    engine.finish(tile);
}

#endif
