/* hopper.h: what hopper.cuh has in assembly, for a host compiler, by the same definition; it follows shim.h.

   Copies land, and products are computed, as late as CUDA allows in the first order of threads: when their barrier, or their group,
   is waited for. In the other order both happen at once. What the card would not take, or would wait for without end, is a fault,
   and the launch fails. */

#pragma once
#include <vector>
#define __grid_constant__

struct TensorMap { /* as cuda_host.py fills it in */
    const unsigned char *base;
    int64_t sizes[4], strides[4]; /* strides in bytes */
    int32_t box[4], steps[2], lower[2], upper[2];
    int16_t itemsize, rounds; /* rounds: floats to TF32 */
    int32_t walks;            /* whether it is in im2col mode */
};
struct Barrier { int phase, arrivals; long bytes; };

namespace shim {
/* 128-byte swizzle: bits 4 to 6 of an address are xored with bits 7 to 9. */
inline uintptr_t swizzled(uintptr_t address) { return address ^ (address >> 7 & 7) << 4; }

struct Fetch {
    unsigned char *to;
    TensorMap map;
    int at[4], right, down;
    Barrier *barrier;

    long bytes() const {
        const long lines = map.walks ? map.box[1] : (long)map.box[1] * map.box[2] * map.box[3];
        return lines * map.box[0] * map.itemsize;
    }
    /* One line, of neighbours along the first axis; those outside are zeros. */
    void put(long line, const int64_t (&from)[4]) const {
        bool there = true;
        const unsigned char *source = map.base;
        for (int axis = 1; axis < 4; axis++) {
            there &= from[axis] >= 0 && from[axis] < map.sizes[axis];
            source += from[axis] * map.strides[axis];
        }
        for (int i = 0; i < map.box[0]; i++) {
            const int64_t first = from[0] + i;
            void *const item = (void *)swizzled((uintptr_t)to + line * 128 + i * map.itemsize);
            if (there && first >= 0 && first < map.sizes[0]) memcpy(item, source + first * map.itemsize, map.itemsize);
            else memset(item, 0, map.itemsize);
            if (!map.rounds) continue;
            uint32_t bits;
            memcpy(&bits, item, 4);
            if ((bits & 0x7fffffff) <= 0x7f800000) bits = (bits >> 23 & 255) == 255 ? bits : (bits + 0x1000) & ~0x1fffu;
            else bits |= 0x400000; /* NaN */
            memcpy(item, &bits, 4);
        }
    }
    void land() const {
        if (!map.walks) {
            for (int l = 0; l < map.box[3]; l++)
                for (int k = 0; k < map.box[2]; k++)
                    for (int j = 0; j < map.box[1]; j++)
                        put((l * map.box[2] + k) * map.box[1] + j, {at[0], at[1] + j, at[2] + k, at[3] + l});
        } else {
            int64_t col = at[1], row = at[2], image = at[3];
            for (int place = 0; place < map.box[1]; place++) {
                put(place, {at[0], col + right, row + down, image});
                col += map.steps[0];
                if (col <= map.sizes[1] - 1 + map.upper[0]) continue;
                col = map.lower[0], row += map.steps[1];
                if (row > map.sizes[2] - 1 + map.upper[1]) row = map.lower[1], image++;
            }
        }
        barrier->bytes -= bytes();
    }
};
inline std::vector<Fetch> &fetches() { static std::vector<Fetch> all; return all; }
inline void settle(Barrier *b) {
    if (b->arrivals == 0 && b->bytes == 0) b->phase++, b->arrivals = 1;
}
inline void fetch(const Fetch &one) {
    if ((uintptr_t)one.to % 1024 || one.map.box[0] * one.map.itemsize != 128) fault = 1;
    if (one.right < 0 || one.right > 255 || one.down < 0 || one.down > 255) fault = 1;
    if (copies_wait) fetches().push_back(one);
    else one.land(), settle(one.barrier);
}
inline uintptr_t base_of_shared() { return (uintptr_t)get_dynamic_memory() / 1024 * 1024; }

struct Product {
    float *sums;
    unsigned long long a, b;
    int cols;
    bool a_along_depth, b_along_depth;
};
/* Those of a thread that are not computed, in groups; the last is open. */
inline std::vector<std::vector<Product>> &products() { static std::vector<std::vector<Product>> all[256]; return all[threadIdx.x]; }

/* The numbers of one row (column) of a factor over 32 bytes of the depth, as the descriptor says where they are. */
template <class Number> void load_line(float *to, unsigned long long descriptor, int line, bool along_depth) {
    if (descriptor >> 62 != 1 || (descriptor >> 49 & 7)) fault = 1;
    constexpr int item = sizeof(Number), of_line = 128 / item;
    const long start = (descriptor & 0x3fff) << 4, leading = (descriptor >> 16 & 0x3fff) << 4, stride = (descriptor >> 32 & 0x3fff) << 4;
    for (int k = 0; k < 32 / item; k++) {
        const long at = along_depth ? line / 8 * stride + line % 8 * 128 + k * item
                                    : line / of_line * leading + line % of_line * item + k / 8 * stride + k % 8 * 128;
        Number number;
        memcpy(&number, (const void *)swizzled(base_of_shared() + start + at), item);
        if (item == 4) {
            uint32_t bits;
            memcpy(&bits, &number, 4);
            bits &= ~0x1fffu; /* what tensor cores ignore */
            memcpy(&number, &bits, 4);
        }
        to[k] = (float)number;
    }
}
template <class Number> void multiply(const Product &p) {
    constexpr int depth = 32 / sizeof(Number);
    const int thread = threadIdx.x % 128, lane = thread % 32;
    float rows[2][depth], col[depth];
    for (int half = 0; half < 2; half++) load_line<Number>(rows[half], p.a, thread / 32 * 16 + lane / 4 + half * 8, p.a_along_depth);
    for (int j = 0; j < p.cols / 4; j++) {
        load_line<Number>(col, p.b, j / 2 * 8 + lane % 4 * 2 + j % 2, p.b_along_depth);
        for (int half = 0; half < 2; half++)
            for (int k = 0; k < depth; k++) p.sums[j / 2 * 4 + half * 2 + j % 2] += rows[half][k] * col[k];
    }
}
template <class Number> struct Unit { /* wgmma for a type of number */
    template <int cols, bool a_along_depth, bool b_along_depth>
    static void begin(float (&sums)[cols / 2], unsigned long long a, unsigned long long b) {
        const Product product = {sums, a, b, cols, a_along_depth, b_along_depth};
        if (copies_wait) products().back().push_back(product);
        else multiply<Number>(product);
    }
    template <int but> static void wait() {
        for (auto &groups = products(); groups.size() > but + 1; groups.erase(groups.begin()))
            for (const Product &product : groups.front()) multiply<Number>(product);
    }
};
} // namespace shim

inline unsigned in_shared(const void *pointer) { return (unsigned)((uintptr_t)pointer - shim::base_of_shared()); } /* 18 bits */
inline void begin(Barrier *b) {
    if (!shim::fetches().empty()) shim::fault = 1; /* a copy that its block has not waited for */
    shim::fetches().clear();
    *b = {0, 1, 0};
}
inline void show_barriers() {}
inline void prefetch(const TensorMap &) {}
inline void arrive(Barrier *b, int bytes) {
    if (b->arrivals != 1) shim::fault = 1; /* a second time in one phase */
    b->arrivals = 0, b->bytes += bytes;
    shim::settle(b);
}
inline void wait(Barrier *b, int parity) {
    while ((b->phase & 1) == parity) {
        auto &all = shim::fetches();
        size_t i = 0;
        while (i < all.size() && all[i].barrier != b) i++;
        if (i == all.size()) { /* a wait without end */
            shim::fault = 1;
            return;
        }
        const shim::Fetch one = all[i];
        all.erase(all.begin() + i);
        one.land(), shim::settle(b);
    }
}
inline void fetch_box(void *to, const TensorMap &map, int first, int second, int third, int fourth, Barrier *b) {
    shim::fetch({(unsigned char *)to, map, {first, second, third, fourth}, 0, 0, b});
}
inline void fetch_places(void *to, const TensorMap &map, int channel, int col, int row, int image, int right, int down, Barrier *b) {
    shim::fetch({(unsigned char *)to, map, {channel, col, row, image}, right, down, b});
}
inline void begin_products() {
    if (shim::products().empty()) shim::products().resize(1);
}
inline void commit_products() { shim::products().push_back({}); }
#define multiply_add_tile shim::Unit<Number>::begin
#define wait_for_products shim::Unit<Number>::wait
