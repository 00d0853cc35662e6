"""Machine code by LLVM: for one state, vectors of states and threads, stored on disk."""
