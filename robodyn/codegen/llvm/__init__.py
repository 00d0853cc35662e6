"""Machine code by LLVM: of one state, of vectors of states, spread over threads, kept on disk."""
