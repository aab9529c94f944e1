/// A certificate for localhost, share.example.org and 127.0.0.1, signed by itself, good for a hundred years, and its
/// key.
enum TestCertificate {
    static let names = ["localhost", "share.example.org"]

    static let certificate = """
        -----BEGIN CERTIFICATE-----
        MIIBrzCCAVagAwIBAgIUY9zgIATcR7R/oWQ3makxcf/6s3YwCgYIKoZIzj0EAwIw
        FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTIwMDEwMTAwMDAwMFoYDzIxMjAwMTAx
        MDAwMDAwWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
        PQMBBwNCAAQzxHw6Y/QeO2VIwgiqZZqPcIVC/EnsnnwrI+fFNelDXzzYqNRyNam6
        F9rmFbcdq4MC9/8mH7u7Xs3xMVKdYWBQo4GDMIGAMB0GA1UdDgQWBBQ4TX+GoL8i
        TpUF0QBsICnYj3rI/TAfBgNVHSMEGDAWgBQ4TX+GoL8iTpUF0QBsICnYj3rI/TAP
        BgNVHRMBAf8EBTADAQH/MC0GA1UdEQQmMCSCCWxvY2FsaG9zdIIRc2hhcmUuZXhh
        bXBsZS5vcmeHBH8AAAEwCgYIKoZIzj0EAwIDRwAwRAIgfxwjTKIddTBtBKaTofOM
        yxGx4co5uiI93NhiAcSKpekCIDW6kjYoBoDstL+uB+ReB7mRmypb6XGFTTrxxMf5
        NS/0
        -----END CERTIFICATE-----
        """

    static let key = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgbVG+fsSTgpX/r2i4
        1rSHIFHKDnJY5jvkY0XGbg5wRvuhRANCAAQzxHw6Y/QeO2VIwgiqZZqPcIVC/Ens
        nnwrI+fFNelDXzzYqNRyNam6F9rmFbcdq4MC9/8mH7u7Xs3xMVKdYWBQ
        -----END PRIVATE KEY-----
        """

    static var pem: String { certificate + "\n" + key + "\n" }
}
