/* main.cpp: a program that runs one kernel, for ThreadSanitizer, which works in programs but not in Python's process.

   Usage: program LIBRARY launch_KERNEL FILE REVERSED. The file holds one launch as cuda_races.py writes it: grid, block, bytes of shared
   memory and the number of arguments, as 8-byte integers; of each argument whether it is a pointer, its size (-1: a null pointer)
   and its bytes. Afterwards it holds the bytes that the pointers point to. The exit status is 2 where threads part at a barrier. */

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <vector>

int main(int, char **arguments) {
    FILE *file = fopen(arguments[3], "rb");
    auto number = [&] {
        long long value;
        if (fread(&value, 8, 1, file) != 1) abort();
        return value;
    };
    const unsigned grid = number(), block = number(), shared = number(), count = number();
    std::vector<std::vector<char>> bytes(count);
    std::vector<char *> pointers(count);
    std::vector<void *> values(count);
    for (unsigned i = 0; i < count; i++) {
        const bool is_pointer = number();
        const long long size = number();
        bytes[i].resize(size < 0 ? 0 : size);
        if (size > 0 && fread(bytes[i].data(), size, 1, file) != 1) abort();
        pointers[i] = size < 0 ? nullptr : bytes[i].data();
        values[i] = is_pointer ? (void *)&pointers[i] : (void *)bytes[i].data();
    }
    fclose(file);
    void *library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    auto launch = (int (*)(unsigned, unsigned, unsigned, void **, int))dlsym(library, arguments[2]);
    if (launch(grid, block, shared, values.data(), atoi(arguments[4]))) return 2;
    file = fopen(arguments[3], "wb");
    for (unsigned i = 0; i < count; i++)
        if (values[i] == &pointers[i]) fwrite(bytes[i].data(), bytes[i].size(), 1, file);
    fclose(file);
}
