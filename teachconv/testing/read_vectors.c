/* Reads the vectors beside it, runs a kernel on each, compares, and writes results/ID.bin for `vectors judge`.
   cc -O2 read_vectors.c my_conv.c -o run && ./run, with a function `my_conv` that returns 0 where it has a result. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "vectors.h"

/* first and second are the arrays of v, bias is NULL where there is none. Return 1 for what the kernel does not take. */
int my_conv(const struct vector *v, const float *first, const float *second, const float *bias, float *result);

static long cells(const long *shape) {
    long product = 1;
    for (int axis = 0; axis < AXES; axis++) product *= shape[axis];
    return product;
}

static void *part(FILE *file, long long at, size_t nbytes) {
    void *memory = malloc(nbytes);
    if (fseek(file, (long)at, SEEK_SET) || fread(memory, 1, nbytes, file) != nbytes) {
        perror("data.bin");
        exit(2);
    }
    return memory;
}

int main(void) {
    int count = sizeof vectors / sizeof *vectors, pass = 0, refused = 0;
    FILE *data = fopen("data.bin", "rb");
    if (!data) return perror("data.bin"), 2;
    mkdir("results", 0777);
    for (int id = 0; id < count; id++) {
        const struct vector *v = &vectors[id];
        if (strcmp(v->dtype, "float32") && ++refused) continue; /* other types are read alike */
        long n = cells(v->result);
        float *first = part(data, v->at[0], cells(v->first) * sizeof *first);
        float *second = part(data, v->at[1], cells(v->second) * sizeof *second);
        float *bias = v->at[2] < 0 ? NULL : part(data, v->at[2], v->at[3] - v->at[2]);
        float *want = part(data, v->at[3], n * sizeof *want), *got = malloc(n * sizeof *got);
        double *bound = part(data, v->at[4], n * sizeof *bound);
        if (my_conv(v, first, second, bias, got)) {
            refused++;
        } else {
            long bad = 0;
            for (long i = 0; i < n; i++) bad += !(fabs((double)got[i] - want[i]) <= bound[i]);
            printf("%s %d %s: %ld of %ld cells outside their bound\n", bad ? "FAIL" : "pass", id, v->name, bad, n);
            pass += !bad;
            char path[64];
            snprintf(path, sizeof path, "results/%d.bin", id);
            FILE *out = fopen(path, "wb");
            if (!out || fwrite(got, sizeof *got, n, out) != (size_t)n || fclose(out)) return perror(path), 2;
        }
        free(first), free(second), free(bias), free(want), free(got), free(bound);
    }
    printf("%d pass, %d fail, %d not run\n", pass, count - pass - refused, refused);
    return pass + refused != count;
}
