"""oneDNN's verbose lines, of its versions 2 and 3, among lines that are none."""

from teachconv.frameworks import onednn

TEXT = """\
2026-01-01 00:00:00 I tensorflow: something else, exec, here
onednn_verbose,v1,info,oneDNN v3.7.3 (commit 0000000000000000000000000000000000000000)
onednn_verbose,v1,info,cpu,runtime:threadpool,nthr:2
onednn_verbose,v1,info,cpu,isa:Intel AVX-512 with Intel DL Boost
onednn_verbose,v1,primitive,info,template:operation,engine,primitive,implementation,prop_kind,memory_descriptors
onednn_verbose,v1,primitive,exec,cpu,reorder,jit:blk,undef,src:f32::blocked:cdba::f0 dst:f32::blocked:Acdb16a::f0,,,16x2x3x3,0.0048
onednn_verbose,v1,primitive,exec,cpu,convolution,brgconv:avx512_core,forward_training,src:f32::blocked:acdb::f0 \
wei:f32:a:blocked:Acdb16a::f0 bia:undef::undef::: dst:f32::blocked:acdb::f0,attr-scratchpad:user \
attr-post-ops:eltwise_relu,alg:convolution_direct,mb1_ic2oc2_ih8oh8kh3sh1dh0ph1_iw8ow8kw3sw1dw0pw1,0.0371
onednn_verbose,exec,cpu,convolution,gemm:jit,backward_data,src_f32::blocked:abcd:f0 wei_f32::blocked:abcd:f0 \
bia_undef::undef::f0 dst_f32::blocked:abcd:f0,,alg:convolution_direct,mb1_ic2oc2,1
onednn_verbose,v1,primitive,create:cache_miss,cpu,convolution,jit:avx2,forward_training,src:f32::any:any::f0,,,mb1,0.1
onednn_verbose,v1,primitive,exec,cpu,convolution,jit:avx2,forward_training,src:f32::blocked:ac
"""


def test_the_version_is_read():
    assert onednn.read(TEXT).version == "v3.7.3"


def test_what_ran_is_read_in_order_without_creations_and_lines_cut_short():
    reorder, forward, gradient = onednn.read(TEXT).primitives
    assert (reorder.kind, reorder.implementation, reorder.algorithm) == ("reorder", "jit:blk", "")
    assert forward == onednn.Primitive(
        "convolution",
        "brgconv:avx512_core",
        "forward_training",
        "src f32 acdb, wei f32 Acdb16a, dst f32 acdb",
        "convolution_direct",
        3.71e-05,
    )
    assert (gradient.implementation, gradient.direction, gradient.formats, gradient.seconds) == (
        "gemm:jit",
        "backward_data",
        "src f32 abcd, wei f32 abcd, dst f32 abcd",
        1e-3,
    )


def test_a_log_without_its_lines_is_empty():
    assert onednn.read("nothing\nonednn_verbose,\n") == onednn.Log("", ())
