/// The version of the library and of the programs built from it.
public let screenRelayVersion = "0.1.0"
