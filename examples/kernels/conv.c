/* A program that teachconv.testing.process drives: conv2d of float32, NCHW and OIHW.  cc -O2 conv.c -o conv */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The numbers that follow a key of the request, which has no spaces. */
static void numbers(const char *line, const char *key, int count, long *out) {
    const char *at = strstr(line, key) + strlen(key);
    for (int i = 0; i < count; i++) {
        while (*at != '-' && (*at < '0' || *at > '9')) at++;
        out[i] = strtol(at, (char **)&at, 10);
    }
}

int main(void) {
    static char line[4096];
    while (fgets(line, sizeof line, stdin)) {
        long x[4], w[4], y[4], stride[2], pad[4], dilation[2], groups, biased, nbytes;
        numbers(line, "\"first\":", 4, x), numbers(line, "\"second\":", 4, w), numbers(line, "\"result\":", 4, y);
        numbers(line, "\"strides\":", 2, stride), numbers(line, "\"pads\":", 4, pad);
        numbers(line, "\"dilations\":", 2, dilation), numbers(line, "\"groups\":", 1, &groups);
        numbers(line, "\"bias\":", 1, &biased), numbers(line, "\"nbytes\":", 1, &nbytes);
        long cells = y[0] * y[1] * y[2] * y[3], depth = w[1];
        float *input = malloc(nbytes), *filters = input + x[0] * x[1] * x[2] * x[3];
        float *bias = filters + w[0] * w[1] * w[2] * w[3];
        float *output = malloc(cells * sizeof *output), *cell = output;
        if (fread(input, 1, nbytes, stdin) != (size_t)nbytes) return 1;
        for (long n = 0; n < y[0]; n++)
            for (long o = 0; o < y[1]; o++)
                for (long r = 0; r < y[2]; r++)
                    for (long c = 0; c < y[3]; c++) {
                        float sum = biased ? bias[o] : 0;
                        for (long i = 0; i < depth; i++)
                            for (long a = 0; a < w[2]; a++)
                                for (long b = 0; b < w[3]; b++) {
                                    long channel = o / (w[0] / groups) * depth + i;
                                    long row = r * stride[0] - pad[0] + a * dilation[0];
                                    long col = c * stride[1] - pad[2] + b * dilation[1];
                                    if (row < 0 || row >= x[2] || col < 0 || col >= x[3]) continue;
                                    sum += input[((n * x[1] + channel) * x[2] + row) * x[3] + col]
                                           * filters[((o * depth + i) * w[2] + a) * w[3] + b];
                                }
                        *cell++ = sum;
                    }
        printf("{\"nbytes\":%ld}\n", cells * (long)sizeof *output);
        fwrite(output, sizeof *output, cells, stdout), fflush(stdout);
        free(input), free(output);
    }
    return 0;
}
