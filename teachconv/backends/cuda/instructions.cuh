/* instructions.cuh: the few instructions that CUDA C++ has no function for, or none that is good enough; one line of assembly each.

   The tensor cores' own loads and products, by which a thread knows which numbers it has. wmma, which tensor_gemm.cu uses, hides
   that, and loads bfloat16 and TF32 4 bytes at a time, each by its own 64-bit address. NVIDIA's PTX ISA defines them (warp-level
   matrix instructions: ldmatrix, mma). Lane l of the 32 of a warp has

     of 16 rows (columns) x 32 bytes of the depth: four registers of 4 bytes, two halves or a float; each is from one quarter of
     8 x 16 bytes, where the lane has row l / 4 and byte l % 4 * 4

                        depth                            depth
       rows 0..7   [ 0 | 2 ]           columns 0..7   [ 0 | 1 ]
       rows 8..15  [ 1 | 3 ]           columns 8..15  [ 2 | 3 ]

     of 16 x 8 sums: rows l / 4 and l / 4 + 8, columns l % 4 * 2 and the next

   A host compiler does not see them: tests/cuda/shim.h has the same functions, by the same definition. */

#ifndef TEACHCONV_INSTRUCTIONS_CUH
#define TEACHCONV_INSTRUCTIONS_CUH

#if defined(__CUDACC__)
#if defined(NUMBER_FLOAT16)
#define MMA "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
#elif defined(NUMBER_BFLOAT16)
#define MMA "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"
#else
#define MMA "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"
#endif

/* Begin to copy 16 bytes to shared memory, or to write 16 zeros there: `from` is not read then, and need not be in an array. CUDA's own
   function takes the number of zeros, and the compiler makes two copies of it, each with its own addresses; this is one instruction. */
DEVICE void copy_or_zero(void *to, const void *from, bool zero) {
    asm volatile("{ .reg .pred zero; setp.ne.s32 zero, %2, 0; cp.async.cg.shared.global [%0], [%1], 16, zero; }"
                 :
                 : "r"((unsigned)__cvta_generic_to_shared(to)), "l"(from), "r"((int)zero)
                 : "memory");
}
/* Load four quarters from shared memory. Each has 8 lines of 16 bytes; lane l gives the start of line l % 8 of quarter l / 8. */
DEVICE void load_quarters(unsigned (&to)[4], const void *line) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"((unsigned)__cvta_generic_to_shared(line))
                 : "memory");
}
/* The same where a line is 8 rows (columns) at one step of the depth, for halves. */
DEVICE void load_transposed_quarters(unsigned (&to)[4], const void *line) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"((unsigned)__cvta_generic_to_shared(line))
                 : "memory");
}
/* Add the products of 16 rows and 8 columns to their sums, of which a lane has two in the upper and two in the lower 8 rows. */
DEVICE void multiply_add(float *upper, float *lower, const unsigned *rows, const unsigned *cols) {
    asm(MMA " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(upper[0]), "+f"(upper[1]), "+f"(lower[0]), "+f"(lower[1])
        : "r"(rows[0]), "r"(rows[1]), "r"(rows[2]), "r"(rows[3]), "r"(cols[0]), "r"(cols[1]));
}
/* Whether this holds for any lane of the warp. */
DEVICE bool any_lane(bool holds) { return __any_sync(0xffffffff, holds); }
/* Have a number kept in a register: the compiler would compute it again and again in a loop. */
DEVICE int keep(int number) {
    asm volatile("" : "+r"(number));
    return number;
}
/* Have what follows computed from the problem anew: the compiler would keep what it has computed before in registers. */
DEVICE void forget(Problem &p) {
    asm volatile(""
                 : "+r"(p.batch), "+r"(p.in_rows), "+r"(p.in_cols), "+r"(p.in_channels), "+r"(p.out_rows), "+r"(p.out_cols),
                   "+r"(p.out_channels), "+r"(p.groups), "+r"(p.filter_rows), "+r"(p.filter_cols), "+r"(p.stride_rows),
                   "+r"(p.stride_cols), "+r"(p.dilation_rows), "+r"(p.dilation_cols), "+r"(p.pad_top), "+r"(p.pad_left));
}
#endif

#endif
