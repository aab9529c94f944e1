import Glibc

/// The sine of so many turns.
func sine(_ turns: Double) -> Double { sin(2 * .pi * turns) }
