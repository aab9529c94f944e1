/// Certificates for localhost that are not valid today, each signed by itself, and the key of both.
enum DatedCertificates {
    /// Valid in the year 2000.
    static let expired = """
        -----BEGIN CERTIFICATE-----
        MIIBQzCB6aADAgECAgEBMAoGCCqGSM49BAMCMBQxEjAQBgNVBAMMCWxvY2FsaG9z
        dDAeFw0wMDAxMDEwMDAwMDBaFw0wMTAxMDEwMDAwMDBaMBQxEjAQBgNVBAMMCWxv
        Y2FsaG9zdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABNxojFjJWrRl1TdCawec
        gK9VURfDQxdNAiy3FHVrkOePyVYq2UmDT6hqbbFX/6slqdfQNYjVcH9SJDpiaKlA
        2cOjLDAqMAkGA1UdEwQCMAAwHQYDVR0OBBYEFDgEZ8kDLmWLnyRSLWA2RO5z+fkN
        MAoGCCqGSM49BAMCA0kAMEYCIQDtXHw6HXk/WLcR4vbkm4fmGLf7T4+7VvBWd+NU
        8cSTbAIhAMzL3heWl7xQk2KvRZ0b5G4V2Cjos8Kx3rHEbo0wVNwX
        -----END CERTIFICATE-----
        """

    /// Valid in the year 2120.
    static let early = """
        -----BEGIN CERTIFICATE-----
        MIIBRjCB7aADAgECAgEBMAoGCCqGSM49BAMCMBQxEjAQBgNVBAMMCWxvY2FsaG9z
        dDAiGA8yMTIwMDEwMTAwMDAwMFoYDzIxMjEwMTAxMDAwMDAwWjAUMRIwEAYDVQQD
        DAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATcaIxYyVq0ZdU3
        QmsHnICvVVEXw0MXTQIstxR1a5Dnj8lWKtlJg0+oam2xV/+rJanX0DWI1XB/UiQ6
        YmipQNnDoywwKjAJBgNVHRMEAjAAMB0GA1UdDgQWBBQ4BGfJAy5li58kUi1gNkTu
        c/n5DTAKBggqhkjOPQQDAgNIADBFAiEA2dDilI/DOkN3vqbg/kPEcVQ4uYXm4/im
        QaKp2A2T4PoCIHjmoeAPb89zZtKC7s/U84PzUNF54vKFyXdefG561Zlf
        -----END CERTIFICATE-----
        """

    static let key = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgP6Cjfjou4qd92SKi
        Pd7bMujKmVmifuq9xmJ0m/y8KlWhRANCAATcaIxYyVq0ZdU3QmsHnICvVVEXw0MX
        TQIstxR1a5Dnj8lWKtlJg0+oam2xV/+rJanX0DWI1XB/UiQ6YmipQNnD
        -----END PRIVATE KEY-----
        """
}
