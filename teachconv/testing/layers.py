"""Layers of published networks at full size: what a kernel will meet, by axes and network.

A layer is written as ``size in>out``, then what is not 1: ``k`` taps, ``s`` stride, ``d`` dilation, ``g``
groups, ``n`` images. One number stands for all axes, 1x7 for one after the other. The padding is as many
cells as ``p`` says on all sides, or at the beginning and at the end (p1,0), or VALID; SAME is not written.
``up`` is a transposed layer. Where all of it would take many more than 2^26 multiply-adds, it has fewer out
channels, or another size is smaller.
"""

from __future__ import annotations

from ..core.law import forward_axis

Numbers = dict[str, int]

NETWORKS: dict[int, dict[str, str]] = {
    2: {
        "LeNet-5": "32 1>6 k5 VALID, 14 6>16 k5 VALID, 5 16>120 k5 VALID",
        "AlexNet": "227 3>96 k11 s4 VALID, 27 96>128 k5 g2 p2, 13 256>384 k3 p1, 13 384>384 k3 g2 p1",
        "VGG-16": (
            "224 3>64 k3 p1, 224 64>2 k3 p1, 112 64>8 k3 p1, 56 128>16 k3 p1, 28 256>32 k3 p1, "
            "14 512>64 k3 p1, 7 512>256 k7 VALID, 7 16>4096 k7 VALID, 1 4096>4096"
        ),
        "GoogLeNet": (
            "112 64>64, 56 64>64 k3, 28 192>64, 28 16>32 k5, 28 96>128 k3, 14 480>192, "
            "14 24>64 k5, 14 512>112, 7 832>384, 7 48>128 k5"
        ),
        "Inception-v3": (
            "299 3>32 k3 s2 VALID, 149 32>8 k3 VALID, 147 32>8 k3, 73 64>80, "
            "73 80>16 k3 VALID, 35 48>64 k5, 35 288>64 k3 s2 VALID, 17 768>192, "
            "17 128>128 k1x7, 17 192>192 k7x1, 17 192>320 k3 s2 VALID, 8 1280>448, "
            "8 384>384 k1x3, 8 384>384 k3x1, 8 448>384 k3"
        ),
        "ResNet-18": (
            "224 3>64 k7 s2 p3, 56 64>64 k3 p1, 56 64>128 k3 s2 p1, 56 64>128 s2, "
            "28 128>128 k3 p1, 28 128>256 k3 s2 p1, 14 256>256 k3 p1, 14 256>512 k3 s2 p1, "
            "7 512>512 k3 p1"
        ),
        "ResNet-50": (
            "224 3>64 k7 s2, 56 64>256, 56 256>64, 56 256>128 s2, 56 128>128 k3 s2 p1, 28 512>128, "
            "28 512>1024 s2, 14 1024>256, 14 256>1024, 14 1024>2048 s2, 7 2048>512, 7 512>2048, "
            "1 2048>1000"
        ),
        "ResNeXt-50": (
            "56 128>128 k3 g32 p1, 56 256>256 k3 s2 g32 p1, 28 256>256 k3 g32 p1, "
            "14 512>512 k3 g32 p1, 7 1024>1024 k3 g32 p1"
        ),
        "DenseNet-121": (
            "56 64>128, 56 128>32 k3 p1, 28 128>32 k3 p1, 28 512>256, 14 992>128, 7 128>32 k3 p1"
        ),
        "SqueezeNet": (
            "224 3>64 k3 s2 VALID, 55 16>64 k3 p1, 55 64>16, 27 32>128 k3 p1, 13 64>256 k3 p1, 13 512>1000"
        ),
        "Xception": (
            "299 3>32 k3 s2 VALID, 147 128>128 k3 g128, 37 728>728 k3 g728, 19 728>728 k3 g728, "
            "19 728>364, 10 1536>1536 k3 g1536"
        ),
        "MobileNet": (
            "224 3>32 k3 s2, 112 32>32 k3 g32, 112 64>64 k3 s2 g64, 56 128>128 k3 g128, "
            "56 128>128 k3 s2 g128, 28 256>256 k3 s2 g256, 14 512>512 k3 g512, "
            "14 512>512 k3 s2 g512, 7 1024>1024 k3 g1024, 112 32>64, 28 256>256, 14 512>512, "
            "7 1024>1024, 1 1024>1001"
        ),
        "MobileNetV2": (
            "224 3>32 k3 s2 p1, 112 96>96 k3 s2 g96 p1, 56 144>144 k3 g144 p1, "
            "56 144>144 k3 s2 g144 p1, 28 192>192 k3 g192 p1, 14 384>384 k3 g384 p1, "
            "14 576>576 k3 s2 g576 p1, 7 960>960 k3 g960 p1, 512x32 32>32 k3 g32 p1, "
            "112 16>96, 56 144>24, 14 576>96, 7 960>320, 7 320>1280, 1 1280>1000"
        ),
        "MobileNetV3": (
            "112 16>16 k3 g16, 56 72>72 k5 s2 g72, 28 120>120 k5 g120, 14 184>184 k3 g184, "
            "14 672>672 k5 g672, 7 960>960 k5 g960, 1 960>240, 1 72>24"
        ),
        "EfficientNet-B0": (
            "112 32>32 k3 g32, 112 96>96 k3 s2 g96, 56 144>144 k5 s2 g144, 28 240>240 k5 g240, "
            "28 240>240 k3 s2 g240, 14 480>480 k5 g480, 14 672>672 k5 s2 g672, "
            "7 1152>1152 k5 g1152, 7 1152>1152 k3 g1152, 7 1152>192, 7 320>1280"
        ),
        "MnasNet and ReXNet": "7 366>1280, 28 61>366, 14 174>174 k3 g174 p1, 14 1044>174",
        "ShuffleNet": (
            "28 24>60, 28 240>60 g3, 14 480>120 g3, 28 58>58 k3 g58 p1, 14 116>116 k3 g116 p1, 7 232>232"
        ),
        "ConvNeXt": (
            "224 3>96 k4 s4 VALID, 56 96>96 k7 g96 p3, 56 96>192 k2 s2 VALID, "
            "28 192>192 k7 g192 p3, 14 384>384 k7 g384 p3, 14 384>768 k2 s2 VALID, "
            "7 768>768 k7 g768 p3, 3 768>3072"
        ),
        "RepLKNet": "14 512>512 k27 g512 p13, 7 1024>1024 k13 g1024 p6, 28 64>64 k29 g64 p14",
        "ViT and CLIP": "224 3>192 k16 s16 VALID, 224 3>96 k32 s32 VALID, 224 3>192 k14 s14 VALID",
        "SSD": (
            "300 3>16 k3 p1, 19 512>32 k3 d6 p6, 19 1024>256, 10 256>512 k3 s2 p1, "
            "5 128>256 k3 VALID, 38 512>8 k3 p1, 3 128>256 k3 VALID"
        ),
        "YOLO": (
            "416 3>8 k3 p1, 640 3>4 k6 s2 p2, 208 32>32 k3 s2 p1, 52 256>128, 26 512>256, "
            "13 1024>255, 13 512>128 k3 p1, 20 256>64 k3 p1"
        ),
        "RetinaNet": (
            "100x136 32>8 k3 p1, 50x68 256>8 k3 p1, 25x34 256>32 k3 p1, 13x17 256>128 k3 p1, "
            "7x9 256>256 k3 p1, 13x17 256>36"
        ),
        "DeepLabv3": (
            "33 64>64 k3 d2, 33x65 64>64 k3 d4, 128x256 16>8 k3 d2, 33 256>16 k3 d6, 33 256>16 k3 d12, "
            "33 256>16 k3 d18, 65 64>8 k3 d36, 33 2048>32, 129 48>8 k3, "
            "33 960>960 k3 d2 g960, 65 64>64 k3 d12 g64"
        ),
        "U-Net": (
            "572 1>16 k3 VALID, 140 128>2 k3 VALID, 68 256>4 k3 VALID, 32 512>16 k3 VALID, "
            "up 28 1024>16 k2 s2 p0, up 52 512>8 k2 s2 p0, up 56 256>16 k2 s2 p0, 388 64>2"
        ),
        "pix2pix": (
            "256 3>16 k4 s2 p1, 128 64>8 k4 s2 p1, 32 256>64 k4 s2 p1, 4 512>512 k4 s2 p1, "
            "31 512>1 k4 p1, up 1 512>512 k4 s2 p1, up 8 512>64 k4 s2 p1, "
            "up 64 128>8 k4 s2 p1, up 128 128>3 k4 s2 p1"
        ),
        "DCGAN": (
            "up 1 100>512 k4 p0, up 4 1024>256 k4 s2 p1, up 8 512>128 k4 s2 p1, "
            "up 16 256>64 k4 s2 p1, up 32 128>3 k4 s2 p1, up 7 256>128 k5 p2, "
            "up 14 128>64 k5 s2 p1,2"
        ),
        "FCN": "up 16 21>21 k4 s2 p0, up 34 21>21 k16 s8 p0, up 10 21>21 k64 s32 p16, up 4 3>3 k64 s32 p16",
        "heads of one channel": "128 64>1, 40 256>1, 96x312 32>1 k3 p1, 80 64>1 k3 p1",
        "super resolution": (
            "33 1>64 k9 VALID, 128x192 1>56 k5 p2, 128 64>12 k3 p1, 64 64>16 k3 p1, up 32 56>1 k9 s3 p4, "
            "up 24 56>1 k9 s4 p4, 96 64>32 k8 s4 p2, up 24 64>8 k8 s4 p2, up 12 64>4 k12 s8 p2"
        ),
        "DQN": "84 4>16 k8 s4 VALID, 20 16>32 k4 s2 VALID, 20 32>64 k4 s2 VALID, 9 64>64 k3 VALID",
        "World Models": (
            "64 3>32 k4 s2 VALID, 31 32>64 k4 s2 VALID, 14 64>128 k4 s2 VALID, 6 128>256 k4 s2 VALID, "
            "up 1 1024>128 k5 s2 p0, up 5 128>64 k5 s2 p0, up 13 64>32 k6 s2 p0, up 30 32>3 k6 s2 p0"
        ),
        "Stable Diffusion": (
            "64 4>320 k3 p1, 64 320>8 k3 p1, 64 320>24 k3 s2 p1, 16 1280>24 k3 p1, 8 2560>64, "
            "512 3>8 k3 p1, 256 128>4 k3 s2 p0,1, 64 512>16 k3 s2 p0,1"
        ),
        "ENet and ERFNet": (
            "64x128 16>16 k5x1 p2x0, 64x128 16>16 k1x5 p0x2, 64x128 64>16 k3x1 d2x1 p2x0, "
            "64x128 64>16 k1x3 d1x2 p0x2, 64x128 32>32 k3 d8 p8, up 64x128 64>16 k3 s2 p1,0, "
            "up 256x512 16>4 k2 s2 p0"
        ),
        "RegNet and EfficientNetV2": (
            "56 48>48 k3 g2 p1, 28 120>120 k3 s2 g5 p1, 14 336>336 k3 g14 p1, 7 888>888 k3 g37 p1, "
            "96 24>96 k3 s2, 48 192>48, 12 256>256 k3 g256"
        ),
        "batches of CIFAR and MNIST": (
            "28 1>8 k5 VALID n128, 12 20>50 k5 VALID n64, 28 1>32 k3 n256, 32 3>16 k3 p1 n128, "
            "16 16>32 k3 s2 p1 n128, 8 64>64 k3 p1 n32, 8 16>16 k3 p1 n256, 4 32>32 n512, 1 256>10 n256, "
            "up 7 16>8 k4 s2 p1 n128"
        ),
        "CRNN": "32x100 1>64 k3 p1, 8x25 256>64 k3 p1, 4x26 512>64 k3 p1, 2x27 512>512 k2 VALID",
        "OpenPose and Hourglass": (
            "46 185>4 k7 p3, 46 128>8 k7 p3, 46 128>512, 256 3>32 k7 s2 p3, 4 256>256 k3 p1"
        ),
    },
    1: {
        "WaveNet": (
            "16000 1>32 k2 p1,0, 4000 32>64 k2 d2 p2,0, 4000 32>64 k2 d64 p64,0, "
            "4000 32>64 k2 d512 p512,0, 4000 32>256, 66150 1>8 k2 p1,0, 66150 4>8 k2 d8 p8,0"
        ),
        "TCN": (
            "784 1>25 k7 p6,0, 784 25>25 k7 d2 p12,0, 784 25>25 k7 d64 p384,0, "
            "1024 32>32 k3 d4 p8,0, 2048 32>32 k3 d256 p512,0, 2048 32>32 k3 d512 p1024,0, "
            "4500 32>32 k8 d256 p1792,0"
        ),
        "Conv-TasNet": (
            "32000 1>64 k16 s8 VALID, 3999 512>512 k3 g512 p1, 3999 512>512 k3 d128 g512 p128, "
            "up 3999 64>1 k16 s8 p0"
        ),
        "wav2vec 2.0": (
            "16000 1>512 k10 s5 VALID, 799 512>64 k3 s2 VALID, 49 512>512 k2 s2 VALID, 49 192>192 k128 g4 p64"
        ),
        "Whisper": "3000 80>64 k3 p1, 3000 384>32 k3 s2 p1",
        "HiFi-GAN": (
            "up 32 512>256 k16 s8 p4, up 256 256>64 k16 s8 p4, up 2048 128>64 k4 s2 p1, "
            "up 4096 64>32 k4 s2 p1, 2048 128>32 k11 d5 p25, 8192 32>32 k7 d3 p9, "
            "8192 32>1 k7 p3, 40000 1>8 k5 s3 p2"
        ),
        "DeepSpeech and QuartzNet": (
            "800 64>64 k33 s2 p16, 400 256>256 k33 g256 p16, 400 512>512 k87 d2 g512 p86"
        ),
        "Mamba": "2048 1536>1536 k4 g1536 p3,0",
        "EEGNet and ECG": "1000 22>8 k64 p32, 5000 12>64 k16 s2 p7, 5000 1>16 k51 p25",
        "EnCodec": (
            "24000 1>32 k7 p6,0, 24000 32>16 k3 p2,0, 24000 32>64 k4 s2 p2,0, 3000 128>64 k10 s5 p5,0, "
            "600 256>64 k16 s8 p8,0, up 75 512>64 k16 s8 p0, up 600 256>32 k10 s5 p0, up 12000 64>4 k4 s2 p0"
        ),
        "Conformer and ECAPA-TDNN": (
            "800 256>256 k31 g256 p15, 800 144>144 k15 g144 p14,0, 300 80>512 k5 p2, 300 128>128 k3 d2 p2, "
            "300 128>128 k3 d4 p4, 300 1536>128"
        ),
        "Demucs and Wave-U-Net": (
            "44100 2>64 k8 s4 VALID, up 11024 64>2 k8 s4 p0, 16384 1>24 k15 p7, 8192 24>48 k15 p7, "
            "4096 72>24 k5 p2"
        ),
        "M5 and Tacotron 2": "16000 1>64 k80 s4 VALID, 400 80>512 k5 p2, 400 512>64 k5 p2, 120 512>64 k5 p2",
        "TextCNN and PointNet": (
            "50 300>100 k3 VALID, 50 300>100 k4 VALID, 50 300>100 k5 VALID, 50 128>32 k3 VALID n64, "
            "20 16>16 k5 p2 n256, 1024 3>64, 1024 64>128, 1024 128>512"
        ),
    },
    3: {
        "C3D": ("16x112x112 3>4 k3 p1, 8x28x28 128>2 k3 p1, 4x14x14 256>8 k3 p1, 2x7x7 512>32 k3 p1"),
        "I3D": (
            "16x112x112 3>2 k7 s2 p3, 32x28x28 64>32, 16x14x14 96>16 k3 p1, 8x7x7 160>64 k3 p1, "
            "32x14x14 4>4 k3 p1"
        ),
        "R(2+1)D": (
            "16x56x56 3>8 k1x7x7 s1x2x2 p0x3x3, 16x28x28 64>8 k1x3x3 p0x1x1, "
            "16x28x28 144>16 k3x1x1 p1x0x0, 16x14x14 128>32 k3x1x1 s2x1x1 p1x0x0"
        ),
        "SlowFast": (
            "8x14x14 256>48 k3x1x1 p1x0x0, 32x56x56 3>4 k5x7x7 s1x2x2 p2x3x3, "
            "32x28x28 8>16 k5x1x1 s8x1x1 p2x0x0, 32x14x14 32>64 k7x1x1 s4x1x1 p3x0x0"
        ),
        "3D U-Net": (
            "32x32x32 1>16 k3 p1, 16x32x32 32>4 k3 p1, 8x8x8 128>16 k3 p1, up 8x8x8 128>64 k2 s2 p0"
        ),
        "V-Net and nnU-Net": (
            "16x32x32 16>4 k5 p2, 16x32x32 16>32 k2 s2 VALID, 16x56x40 32>8 k1x3x3 p0x1x1, "
            "16x56x40 32>16 k3 s1x2x2 p1, up 8x14x10 128>16 k1x2x2 s1x2x2 p0"
        ),
        "HighRes3DNet and dilated time": (
            "24x24x24 16>16 k3 p1, 16x16x16 32>32 k3 d2 p2, 16x16x16 64>8 k3 d4 p4, "
            "16x14x14 64>16 k5x1x1 d2x1x1 p4x0x0, 12x7x7 32>32 k3x1x1 d4x1x1 p4x0x0"
        ),
        "X3D": (
            "13x56x56 24>24 k5x1x1 g24 p2x0x0, 13x28x28 54>54 k3 g54 p1, 13x28x28 108>108 k3 s1x2x2 g108 p1"
        ),
    },
}


def layers(rank: int) -> list[Numbers]:
    """Return the layers over a number of axes, each by its numbers, such as "size0", "taps0" and "depth"."""
    return [_numbers(layer, rank) for row in NETWORKS[rank].values() for layer in row.split(", ")]


def _numbers(layer: str, rank: int) -> Numbers:
    """Return a layer as the numbers that the fuzzer varies."""
    up, size, channels, *rest = layer.split() if layer.startswith("up") else ["", *layer.split()]
    words = {word[0]: word[1:] for word in rest}
    ins, outs = map(int, channels.split(">"))
    groups = int(words.get("g", 1))
    numbers = {
        "images": int(words.get("n", 1)),
        "groups": groups,
        "depth": ins // groups,
        "outs": outs // groups,
        "bias": 0,
        "transposed": int(bool(up)),
    }

    def along(text: str, axis: int) -> str:
        each = text.split("x")
        return each[axis if len(each) > 1 else 0]

    for axis in range(rank):
        cells = int(along(size, axis))
        taps, stride, dilation = (int(along(words.get(letter, "1"), axis)) for letter in "ksd")
        before, _, after = along(words.get("p", "0"), axis).partition(",")
        pads = int(before), int(after or before)
        if not {"p", "V"} & words.keys():
            same = forward_axis("cols", cells, taps, stride, dilation, "SAME", pads)
            pads = same.pad_before, same.pad_after
        values = cells, taps, stride, dilation, *pads, 0
        names = "size", "taps", "stride", "dilation", "before", "after", "extra"
        numbers |= {f"{name}{axis}": value for name, value in zip(names, values, strict=True)}
    return numbers
