"""Why a program communicates: lines of Python, shardings that met there and their origins, and what would be cheaper."""
