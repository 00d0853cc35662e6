"""The parts of a unit in C: header, source, a test with numbers of robodyn, a CMake file."""
