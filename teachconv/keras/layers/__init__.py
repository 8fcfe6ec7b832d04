"""The layers. Keras: keras.layers."""

from .convolutional import Conv2D, Conv2DTranspose, DepthwiseConv2D
from .core import Activation, Dense, Dropout, Flatten, Input, InputLayer, ReLU, Reshape, Softmax, UpSampling2D
from .layer import Layer
from .normalization import BatchNormalization
from .pooling import AveragePooling2D, MaxPooling2D

# Keras' other names for some of them
AvgPool2D, MaxPool2D = AveragePooling2D, MaxPooling2D
Convolution2D, Convolution2DTranspose = Conv2D, Conv2DTranspose

__all__ = [
    "Activation",
    "AveragePooling2D",
    "AvgPool2D",
    "BatchNormalization",
    "Conv2D",
    "Conv2DTranspose",
    "Convolution2D",
    "Convolution2DTranspose",
    "Dense",
    "DepthwiseConv2D",
    "Dropout",
    "Flatten",
    "Input",
    "InputLayer",
    "Layer",
    "MaxPool2D",
    "MaxPooling2D",
    "ReLU",
    "Reshape",
    "Softmax",
    "UpSampling2D",
]
