//! Kernelscope opens any GPU binary and shows all of it, down to the bit.
