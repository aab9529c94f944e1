// swift-tools-version: 6.2
// Measurements of ScreenRelay. A package of its own, so that nobody who uses the library builds them.
import PackageDescription

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .treatAllWarnings(as: .error),
]

let package = Package(
    name: "ScreenRelayBench",
    dependencies: [.package(name: "ScreenRelay", path: "../..")],
    targets: [
        .executableTarget(
            name: "bench-join", dependencies: [.product(name: "ScreenRelayTestTools", package: "ScreenRelay")],
            swiftSettings: settings),
        .executableTarget(
            name: "bench-link", dependencies: [.product(name: "ScreenRelayTestTools", package: "ScreenRelay")],
            swiftSettings: settings),
        .executableTarget(
            name: "bench-srtp",
            dependencies: [
                .product(name: "ScreenRelayTestTools", package: "ScreenRelay"),
                .product(name: "CSRTP", package: "ScreenRelay"),
            ],
            swiftSettings: settings),
        .target(name: "CBench"),
        .executableTarget(
            name: "bench-viewers",
            dependencies: ["CBench", .product(name: "ScreenRelayTestTools", package: "ScreenRelay")],
            swiftSettings: settings),
    ]
)
