import Glibc

/// Gains on the scale that people use.
enum Decibels {
    /// The factor for samples that stands for so many decibels.
    static func factor(_ decibels: Int) -> Float { powf(10, Float(decibels) / 20) }
}
