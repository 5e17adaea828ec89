"""Drop-ins for programs written against PyTorch's loader and Triton's cache. Importable without torch or triton."""
