/* in place of darknet's header, of which gemm.c uses nothing when it is compiled for the CPU */
