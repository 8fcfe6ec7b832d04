/* in place of darknet's header, of which gemm.c uses nothing else when it is compiled for the CPU */
#include <time.h>
