/* Reads the vectors beside it, runs a kernel on each, compares, and writes results/ID.bin for `vectors judge`.
   cc -O2 read_vectors.c my_conv.c -o run && ./run, with a function `my_conv` that returns 0 where it has a result.
   On a device without files: xxd -i data.bin data.c, and build both with -DNO_FILES. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifndef NO_FILES
#include <sys/stat.h>
#endif
#include "vectors.h"

/* first and second are the arrays of v, bias is NULL where there is none. Return 1 for what the kernel does not take. */
int my_conv(const struct vector *v, const float *first, const float *second, const float *bias, float *result);

static void stop_if(int problem, const char *what) { if (problem) printf("%s: not enough, or no access\n", what), exit(2); }

static void *part(long long at, size_t nbytes) {
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
        if (strcmp(v->dtype, "float32") && ++refused) continue; /* other types are read alike */
        long n[3] = {1, 1, 1}, bad = 0; /* how many cells the arrays have, and how many of the result are wrong */
        for (int axis = 0; axis < AXES; axis++) n[0] *= v->first[axis], n[1] *= v->second[axis], n[2] *= v->result[axis];
        float *first = part(v->at[0], n[0] * sizeof *first), *second = part(v->at[1], n[1] * sizeof *second);
        float *bias = v->at[2] < 0 ? NULL : part(v->at[2], v->at[3] - v->at[2]);
        float *want = part(v->at[3], n[2] * sizeof *want), *got = part(v->at[3], n[2] * sizeof *got);
        double *bound = part(v->at[4], n[2] * sizeof *bound);
        memset(got, 0xff, n[2] * sizeof *got); /* NaN: what is not written is wrong */
        if (my_conv(v, first, second, bias, got)) refused++;
        else {
            for (long i = 0; i < n[2]; i++) bad += !(fabs((double)got[i] - want[i]) <= bound[i]);
            printf("%s %d %s: %ld of %ld cells outside their bound\n", bad ? "FAIL" : "pass", id, v->name, bad, n[2]);
            pass += !bad;
#ifndef NO_FILES
            char path[64];
            snprintf(path, sizeof path, "results/%d.bin", id);
            mkdir("results", 0777);
            FILE *out = fopen(path, "wb");
            stop_if(!out || fwrite(got, sizeof *got, n[2], out) != (size_t)n[2] || fclose(out), path);
#endif
        }
        free(first), free(second), free(bias), free(want), free(got), free(bound);
    }
    printf("%d pass, %d fail, %d not run\n", pass, count - pass - refused, refused);
    return pass + refused != count;
}
