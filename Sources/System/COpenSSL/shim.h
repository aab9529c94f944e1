#pragma once
#include <openssl/ssl.h>
#include <openssl/evp.h>
#include <openssl/core_names.h>
#include <openssl/params.h>
#include <openssl/rand.h>
#include <openssl/srtp.h>
#include <openssl/x509.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/hmac.h>
#include <openssl/kdf.h>
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <string.h>

// OpenSSL's function-like macros, as functions that Swift can import.
static inline long shim_SSL_set_mtu(SSL *s, long m) { return SSL_set_mtu(s, m); }
static inline int shim_SSL_CTX_set_min_proto_version(SSL_CTX *c, int v) { return (int)SSL_CTX_set_min_proto_version(c, v); }
static inline int shim_SSL_CTX_set_max_proto_version(SSL_CTX *c, int v) { return (int)SSL_CTX_set_max_proto_version(c, v); }
static inline int shim_SSL_CTX_set1_groups_list(SSL_CTX *c, const char *l) { return (int)SSL_CTX_set1_groups_list(c, l); }
static inline int shim_SSL_CTX_add0_chain_cert(SSL_CTX *c, X509 *x) { return (int)SSL_CTX_add0_chain_cert(c, x); }
static inline long shim_SSL_CTX_set_mode(SSL_CTX *c, long m) { return SSL_CTX_set_mode(c, m); }
static inline long shim_DTLSv1_get_timeout(SSL *s, struct timeval *tv) { return DTLSv1_get_timeout(s, tv); }
static inline long shim_DTLSv1_handle_timeout(SSL *s) { return DTLSv1_handle_timeout(s); }
static inline EVP_PKEY *shim_EVP_EC_gen_p256(void) { return EVP_EC_gen("P-256"); }
static inline void shim_BIO_set_mem_eof_return(BIO *b, int v) { BIO_set_mem_eof_return(b, v); }
static inline long shim_BIO_get_mem_data(BIO *b, char **p) { return BIO_get_mem_data(b, p); }
static inline int shim_BIO_reset(BIO *b) { return (int)BIO_reset(b); }
static inline void shim_OPENSSL_free(void *p) { OPENSSL_free(p); }
static const uint64_t shim_SSL_OP_NO_QUERY_MTU = SSL_OP_NO_QUERY_MTU;
static const uint64_t shim_SSL_OP_NO_TICKET = SSL_OP_NO_TICKET;
static const uint64_t shim_SSL_OP_NO_RENEGOTIATION = SSL_OP_NO_RENEGOTIATION;
static const uint64_t shim_SSL_OP_COOKIE_EXCHANGE = SSL_OP_COOKIE_EXCHANGE;
static inline long shim_SSL_CTX_set_max_cert_list(SSL_CTX *c, long m) { return SSL_CTX_set_max_cert_list(c, m); }
static inline long shim_SSL_CTX_set_session_cache_mode(SSL_CTX *c, long m) { return SSL_CTX_set_session_cache_mode(c, m); }
static const uint64_t shim_SSL_OP_CIPHER_SERVER_PREFERENCE = SSL_OP_CIPHER_SERVER_PREFERENCE;
// DNS name `index` of a certificate's subject alternative names, in memory of its own; NULL past the last. A NUL in it makes it "".
static inline char *shim_X509_dns_name(X509 *certificate, int index) {
    GENERAL_NAMES *names = (GENERAL_NAMES *)X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
    char *found = NULL;
    int count = names ? sk_GENERAL_NAME_num(names) : 0;
    for (int i = 0; i < count && !found; i++) {
        GENERAL_NAME *name = sk_GENERAL_NAME_value(names, i);
        if (name->type != GEN_DNS || index-- > 0) continue;
        int length = ASN1_STRING_length(name->d.dNSName);
        const char *text = (const char *)ASN1_STRING_get0_data(name->d.dNSName);
        found = memchr(text, 0, (size_t)length) ? OPENSSL_strdup("") : OPENSSL_strndup(text, (size_t)length);
    }
    GENERAL_NAMES_free(names);
    return found;
}
// The tag of an AEAD cipher's packet. EVP_CIPHER_CTX_ctrl does the same and takes longer.
static inline int shim_EVP_CIPHER_CTX_get_tag(EVP_CIPHER_CTX *context, void *tag, size_t count) {
    OSSL_PARAM parameters[] = {OSSL_PARAM_construct_octet_string(OSSL_CIPHER_PARAM_AEAD_TAG, tag, count), OSSL_PARAM_construct_end()};
    return EVP_CIPHER_CTX_get_params(context, parameters);
}
static inline int shim_EVP_CIPHER_CTX_set_tag(EVP_CIPHER_CTX *context, void *tag, size_t count) {
    OSSL_PARAM parameters[] = {OSSL_PARAM_construct_octet_string(OSSL_CIPHER_PARAM_AEAD_TAG, tag, count), OSSL_PARAM_construct_end()};
    return EVP_CIPHER_CTX_set_params(context, parameters);
}
// HMAC-SHA1 with a key that it keeps; NULL where that fails.
static inline EVP_MAC_CTX *shim_EVP_MAC_new_HMAC_SHA1(const unsigned char *key, size_t count) {
    OSSL_PARAM parameters[] = {OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, (char *)"SHA1", 0), OSSL_PARAM_construct_end()};
    EVP_MAC *mac = EVP_MAC_fetch(NULL, "HMAC", NULL);
    EVP_MAC_CTX *context = mac ? EVP_MAC_CTX_new(mac) : NULL;
    EVP_MAC_free(mac);
    if (context && !EVP_MAC_init(context, key, count, parameters)) {
        EVP_MAC_CTX_free(context);
        context = NULL;
    }
    return context;
}
// The key block of a TLS 1.2 or DTLS 1.2 session (RFC 5246 section 6.3). Returns 1 if that succeeds.
static inline int shim_SSL_key_block(SSL *s, unsigned char *block, size_t count) {
    unsigned char secret[SSL_MAX_MASTER_KEY_LENGTH], randoms[2 * SSL3_RANDOM_SIZE];
    const SSL_CIPHER *cipher = SSL_get_current_cipher(s);
    const EVP_MD *digest = cipher ? SSL_CIPHER_get_handshake_digest(cipher) : NULL;
    if (!digest) return 0;
    size_t secret_count = SSL_SESSION_get_master_key(SSL_get_session(s), secret, sizeof secret);
    SSL_get_server_random(s, randoms, SSL3_RANDOM_SIZE);
    SSL_get_client_random(s, randoms + SSL3_RANDOM_SIZE, SSL3_RANDOM_SIZE);
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, (char *)EVP_MD_get0_name(digest), 0),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SECRET, secret, secret_count),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SEED, (char *)"key expansion", 13),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SEED, randoms, sizeof randoms), OSSL_PARAM_construct_end()};
    EVP_KDF *kdf = EVP_KDF_fetch(NULL, "TLS1-PRF", NULL);
    EVP_KDF_CTX *context = kdf ? EVP_KDF_CTX_new(kdf) : NULL;
    EVP_KDF_free(kdf);
    int is_done = context && EVP_KDF_derive(context, block, count, parameters) == 1;
    EVP_KDF_CTX_free(context);
    OPENSSL_cleanse(secret, sizeof secret);
    return is_done;
}
static const int shim_MBSTRING_ASC = MBSTRING_ASC;
