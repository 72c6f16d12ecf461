//! The structures of code objects as records: descriptors, notes, values of the metadata.
