// swift-tools-version: 6.2
// Fuzzing of everything that reads bytes from outside. A package of its own, so that nobody who uses the library builds
// it. `Tools/fuzz` builds and runs it: the flags for the sanitizers come from there.
import PackageDescription

let package = Package(
    name: "ScreenRelayFuzzing",
    dependencies: [.package(name: "ScreenRelay", path: "../..")],
    targets: [
        .systemLibrary(name: "CLibFuzzer"),
        .executableTarget(
            name: "fuzz",
            dependencies: ["CLibFuzzer", .product(name: "ScreenRelayParsing", package: "ScreenRelay")],
            swiftSettings: [
                .swiftLanguageMode(.v6),
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("MemberImportVisibility"),
                .enableUpcomingFeature("InternalImportsByDefault"),
                .treatAllWarnings(as: .error),
            ]),
    ]
)
