"""The program as plain Python data: nodes, types, ops, hardware, text in and out, verifier, interpreter."""
