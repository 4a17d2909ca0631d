"""Verifies certificates of an API server the same way kubectl does.

From Python 3.13 on, urllib3 refuses authorities and certificates without some extensions (RFC 5280:
authority key identifier, key usage). Older clusters have such certificates, and Go accepts them. Go
also accepts an intermediate authority as a root.
"""

import ssl
from typing import Any


def connect(configuration: Any) -> Any:
    """The connections of a `kubernetes.client.Configuration`: a `kubernetes.client.ApiClient`.

    Raises ValueError for invalid certificates. Missing files are reported earlier.
    """
    import urllib3  # noqa: PLC0415 - what reaches a cluster is imported when one is reached
    from kubernetes import client  # noqa: PLC0415 - likewise

    if not configuration.verify_ssl:
        urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)  # the user chose it
    context = _context(configuration)
    configuration.retries = False
    made: Any = client.ApiClient(configuration)
    options = made.rest_client.pool_manager.connection_pool_kw
    for name in ("ca_certs", "ca_cert_data", "cert_file", "key_file"):
        options.pop(name, None)  # the context has read them
    options["ssl_context"] = context
    return made


def _context(configuration: Any) -> ssl.SSLContext:
    from urllib3.util.ssl_ import create_urllib3_context  # noqa: PLC0415 - likewise

    mode = ssl.CERT_REQUIRED if configuration.verify_ssl else ssl.CERT_NONE
    context: ssl.SSLContext = create_urllib3_context(cert_reqs=mode)
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    try:
        if configuration.ssl_ca_cert:
            context.load_verify_locations(configuration.ssl_ca_cert)
        else:
            context.load_default_certs()
    except ssl.SSLError:
        raise ValueError("the certificate-authority contains no certificate") from None
    try:
        if configuration.cert_file:
            context.load_cert_chain(configuration.cert_file, configuration.key_file, "")
    except ssl.SSLError:
        raise ValueError("the client-certificate and client-key of the user do not match") from None
    return context
