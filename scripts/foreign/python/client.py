"""Calls every gateway path that it is given, and prints one JSON line a check.

client.py sdk|fastmcp basic|oauth, with GATEWAY, CLIENT_ID, CLIENT_SECRET and PATHS (JSON: path to
the prefix of its tools' names) in the environment.
"""

import asyncio
import base64
import json
import os
import sys
import warnings

warnings.filterwarnings("ignore")
kind, credential = sys.argv[1:3]
gateway = os.environ["GATEWAY"]
client_id, client_secret = os.environ["CLIENT_ID"], os.environ["CLIENT_SECRET"]
# The first call of a stdio server waits for its process.
TIMEOUT_SECONDS = 60
basic = "Basic " + base64.b64encode(f"{client_id}:{client_secret}".encode()).decode()


class Tokens:
    """What the SDK keeps its token in."""

    tokens = None
    info = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.info

    async def set_client_info(self, info):
        self.info = info


def sdk_client(url):
    import httpx2
    from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider
    from mcp.client.client import Client
    from mcp.client.streamable_http import streamable_http_client

    if credential == "basic":
        http = httpx2.AsyncClient(headers={"Authorization": basic}, timeout=TIMEOUT_SECONDS)
    else:
        auth = ClientCredentialsOAuthProvider(
            url, Tokens(), client_id, client_secret, issuer=gateway
        )
        http = httpx2.AsyncClient(auth=auth, timeout=TIMEOUT_SECONDS)
    return Client(streamable_http_client(url, http_client=http))


def fastmcp_client(url):
    from fastmcp import Client
    from fastmcp.client.auth import ClientCredentialsOAuthProvider
    from fastmcp.client.transports import StreamableHttpTransport

    if credential == "basic":
        return Client(StreamableHttpTransport(url, headers={"Authorization": basic}))
    auth = ClientCredentialsOAuthProvider(
        client_id=client_id, client_secret=client_secret, issuer=gateway
    )
    return Client(StreamableHttpTransport(url, auth=auth))


def report(path, check, ok, said=""):
    print(json.dumps({"path": path, "check": check, "ok": ok, "said": str(said)[:500]}), flush=True)


def causes(error):
    """The errors below an exception group, which anyio wraps what happens in tasks in."""
    if isinstance(error, BaseExceptionGroup):
        return "; ".join(causes(one) for one in error.exceptions)
    return f"{type(error).__name__}: {error}"


async def check(path, prefix):
    url = gateway + path
    try:
        async with (sdk_client if kind == "sdk" else fastmcp_client)(url) as client:
            listed = await client.list_tools()
            names = [tool.name for tool in getattr(listed, "tools", listed)]
            report(path, "list", f"{prefix}get_greeting" in names, names)
            answer = await client.call_tool(f"{prefix}get_greeting", {"name": "Ada"})
            text = answer.content[0].text
            report(path, "call", text == "Hello Ada", text)
            try:
                answer = await client.call_tool(f"{prefix}wipe_disk", {"path": "/"})
                report(path, "denied", False, answer)
            except Exception as error:  # each client has a class of its own
                report(path, "denied", "Denied by policy" in str(error), error)
    except BaseException as error:  # an exception group may not be an Exception
        report(path, "connect", False, causes(error))


async def main():
    for path, prefix in json.loads(os.environ["PATHS"]).items():
        await check(path, prefix)


asyncio.run(main())
