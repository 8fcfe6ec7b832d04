"""Turns one framework's call into another's; the map of dialects; the convolutions of ONNX files."""
