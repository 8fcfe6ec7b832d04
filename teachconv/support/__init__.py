"""Leaves that everything may import: errors, settings, records, memory, tables, files, devices."""
