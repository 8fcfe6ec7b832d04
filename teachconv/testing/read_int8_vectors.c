/* Reads the quantized vectors beside it, runs an int8 kernel on each, compares the bits, and writes results/ID.bin for
   `vectors judge`.  cc -O2 read_int8_vectors.c my_conv.c -o run && ./run, with a function `my_conv` that returns 0 where
   it has a result. On a device without files: xxd -i data.bin data.c, and build both with -DNO_FILES. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifndef NO_FILES
#include <sys/stat.h>
#endif
#include "vectors.h"

/* bias is NULL where there is none; multiplier and shift have a number for each channel of the result. Return 1 for what
   the kernel does not take. */
int my_conv(const struct vector *v, const int8_t *first, const int8_t *second, const int32_t *bias,
            const int32_t *multiplier, const int32_t *shift, int8_t *result);

static void stop_if(int problem, const char *what) { if (problem) printf("%s: not enough, or no access\n", what), exit(2); }

static void *part(long long at, size_t nbytes) {
    if (at < 0) return NULL;
    void *memory = malloc(nbytes);
    stop_if(!memory, "memory");
#ifdef NO_FILES
    extern unsigned char data_bin[];
    memcpy(memory, data_bin + at, nbytes);
#else
    FILE *file = fopen("data.bin", "rb");
    stop_if(!file || fseek(file, (long)at, SEEK_SET) || fread(memory, 1, nbytes, file) != nbytes || fclose(file), "data.bin");
#endif
    return memory;
}

int main(void) {
    int count = sizeof vectors / sizeof *vectors, pass = 0, refused = 0;
    for (int id = 0; id < count; id++) {
        const struct vector *v = &vectors[id];
        if (strcmp(v->dtype, "int8") && ++refused) continue; /* uint8 and int16 are read alike */
        long n[3] = {1, 1, 1}, channels = v->result[AXES - 1], bad = 0; /* channels are the last axis of NHWC */
        for (int axis = 0; axis < AXES; axis++) n[0] *= v->first[axis], n[1] *= v->second[axis], n[2] *= v->result[axis];
        int8_t *first = part(v->at[0], n[0]), *second = part(v->at[1], n[1]);
        int8_t *want = part(v->at[3], n[2]), *got = part(v->at[3], n[2]);
        int32_t *bias = part(v->at[2], channels * sizeof *bias);
        int32_t *multiplier = part(v->at[5], channels * sizeof *multiplier), *shift = part(v->at[6], channels * sizeof *shift);
        for (long i = 0; i < n[2]; i++) got[i] = (int8_t)~want[i]; /* what is not written is wrong */
        if (my_conv(v, first, second, bias, multiplier, shift, got)) refused++;
        else {
            for (long i = 0; i < n[2]; i++) bad += got[i] != want[i];
            printf("%s %d %s: %ld of %ld cells differ\n", bad ? "FAIL" : "pass", id, v->name, bad, n[2]);
            pass += !bad;
#ifndef NO_FILES
            char path[64];
            snprintf(path, sizeof path, "results/%d.bin", id);
            mkdir("results", 0777);
            FILE *out = fopen(path, "wb");
            stop_if(!out || fwrite(got, 1, n[2], out) != (size_t)n[2] || fclose(out), path);
#endif
        }
        free(first), free(second), free(bias), free(want), free(got), free(multiplier), free(shift);
    }
    printf("%d pass, %d fail, %d not run\n", pass, count - pass - refused, refused);
    return pass + refused != count;
}
