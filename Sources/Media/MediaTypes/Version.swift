/// The version of the library and of the programs that are made of it.
public let screenRelayVersion = "0.1.0"
