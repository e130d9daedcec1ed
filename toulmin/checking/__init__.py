"""Kept documents held against their sources, and saved answers checked again; nothing here reads or writes a file."""
