"""Readers of official schemas, and the judges of the tables that `schemas.py` writes."""
