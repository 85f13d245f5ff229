"""CMake files: `engine` is where one is decided, the modules beside it are a family of rules each."""
