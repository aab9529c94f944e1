import CommandLine

extension HostOptions {
    /// All options that `share` and `host` have in common.
    static let all =
        access.under(.access) + network.under(.network) + RecordOptions.hostOptions + SharingNews.options.under(.output)

    private static let access =
        reach + AccessOptions.options + administrationOptions + webClients

    private static let reach = [
        Option(
            long: "lan",
            help: "allow other machines: listen on all of this machine's addresses, not only on loopback"),
        Option(
            long: "room", short: "r", value: .required("NAME"), help: "the room's name in invite links",
            default: "screen"),
    ]

    private static let administrationOptions = [
        Option(
            long: "api-lan",
            help: "with --lan: allow other machines to use /api and /metrics, with the token of /api; without it, only "
                + "this machine can"),
        Option(
            long: "admin-token-file", value: .required("FILE"),
            help:
                "keep the token of the HTTP interface for administration, /api, in this file; without it, the token is "
                + "kept next to the rooms' tokens in $XDG_STATE_HOME/screenrelay or ~/.local/state/screenrelay, as "
                + "api-ADDRESS.token. If it can't be kept, there is no /api"),
    ]

    private static let webClients = [
        Option(
            long: "allow-origin", value: .required("ORIGIN"),
            help: "allow web pages of this origin, for example https://example.org, to use the host; may be "
                + "repeated",
            repeats: true),
        Option(
            long: "embed-in", value: .required("ORIGIN"),
            help: "allow web pages of this origin, for example https://example.org, to show the page in a frame, with "
                + "the element <screen-relay> of /embed.js; may be repeated",
            repeats: true, alsoSoughtAs: ["iframe", "frame"]),
        Option(
            long: "pair-rooms",
            help: "also allow socket.io clients to call each other: two of them in each room that isn't this "
                + "host's, named NAME,TOKEN with the room token",
            alsoSoughtAs: ["call"]),
        Option(
            long: "other-joined",
            help: "also send 'other_joined' next to 'otherjoin', for socket.io clients that expect that name"),
    ]

    private static let network =
        [
            Option(
                long: "listen", value: .required("ADDR:PORT"),
                help:
                    "the address for the page and everything else over HTTP (WebSocket, socket.io, WHEP, WHIP, /api); "
                    + "a port is enough, and 0 uses any free one",
                default: "127.0.0.1:8080", alsoSoughtAs: ["port", "bind", "address"]),
            Option(
                long: "udp-port", value: .required("PORT"),
                help:
                    "the UDP port for all viewers, and the TCP port for viewers who can't use UDP; 0 uses any free "
                    + "one, and so does the default if it is in use",
                default: "8189"),
            AdvertiseOption.option,
        ] + ICEOptions.options + MediaServerOptions.options + [
            Option(
                long: "trusted-proxy", value: .required("CIDR"),
                help:
                    "trust Forwarded and X-Forwarded-For from reverse proxies at these addresses, for example "
                    + "127.0.0.1 or 10.0.0.0/8; may be repeated", repeats: true)
        ]
}
