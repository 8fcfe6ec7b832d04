"""Looks at calls: their stages, the products of one cell, the receptive field, static pictures."""
