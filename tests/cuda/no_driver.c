/* As much of NVIDIA's driver as cuDNN asks for while it plans: there is one, of CUDA 13, and it has no device. */
int cuDriverGetVersion(int *version) { *version = 13000; return 0; }
int cuGetErrorString(int error, const char **text) { *text = "no driver"; return 0; }
int cuInit(void) { return 100; }
int cuGetProcAddress_v2(void) { return 500; }
int cuModuleGetFunction(void) { return 100; }
int cuModuleLoadData(void) { return 100; }
int cuModuleUnload(void) { return 100; }
int cuTensorMapEncodeIm2col(void) { return 100; }
int cuTensorMapEncodeTiled(void) { return 100; }
