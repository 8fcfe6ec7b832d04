"""Looks at calls: where they run, their stages, the products of a cell, receptive fields, pictures."""
