"""The same corpus elsewhere: on an object store or in PostgreSQL."""
