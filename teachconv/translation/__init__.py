"""Translates one framework's call into another's, tabulates the dialects, and reads ONNX files."""
