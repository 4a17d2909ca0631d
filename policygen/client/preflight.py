"""Asks a server for our permissions, with SelfSubjectAccessReviews, which the server does not store."""

from collections.abc import Iterable, Iterator

import msgspec
from msgspec import Struct
from msgspec.structs import replace

import policygen
from policygen.client.access import Access
from policygen.client.permissions import Permission
from policygen.client.requests import JSON, Deadline, ReadError
from policygen.core.decoding import decode

PATH = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
TIMEOUT_S = 20.0


class _ReviewStatus(Struct):
    allowed: bool = False


class _Review(Struct):
    status: _ReviewStatus


def refused(
    access: Access, permissions: Iterable[Permission], deadline: Deadline
) -> Iterator[Permission]:
    """The permissions that we do not have. Raises ReadError if the server does not answer."""
    for permission in permissions:
        lacking = [
            name
            for name in permission.names or ("",)
            if not _allowed(access, permission, name, deadline)
        ]
        if lacking:
            yield replace(permission, names=tuple(filter(None, lacking)))


def _allowed(access: Access, permission: Permission, name: str, deadline: Deadline) -> bool:
    import urllib3  # noqa: PLC0415 - what reaches a cluster is imported when one is reached

    attributes = {"verb": "list", "group": permission.group, "resource": permission.resource}
    if permission.namespace:
        attributes["namespace"] = permission.namespace
    body = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": attributes | ({"name": name} if name else {})},
    }
    headers, _ = access.credentials(
        {
            "user-agent": f"policygen/{policygen.__version__}",
            "accept": JSON,
            "content-type": JSON,
        }
    )
    seconds = min(TIMEOUT_S, deadline.left())
    try:
        answer = access.pool.request(
            "POST",
            access.host + PATH,
            body=msgspec.json.encode(body),
            headers=headers,
            redirect=False,
            retries=False,
            timeout=seconds,
        )
        if answer.status != 201:
            raise ReadError(f"the server answered {answer.status}")
        return decode(answer.data, _Review).status.allowed
    except urllib3.exceptions.ReadTimeoutError:
        raise ReadError(f"no answer within {seconds:.3g} s") from None
    except (urllib3.exceptions.HTTPError, OSError, msgspec.DecodeError) as error:
        raise ReadError(f"no answer: {' '.join(str(error).split())}") from None
