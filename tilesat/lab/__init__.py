"""The laboratory: programs made to order, to test and to measure everything else on.

:mod:`tilesat.lab.generate` makes them from seeds, :mod:`tilesat.lab.strategies` for hypothesis;
:mod:`tilesat.lab.census` says what is in a program, :mod:`tilesat.lab.shrink` makes a counterexample small.
"""
