"""What Schemathesis has to be told: lines of JSON travel as the text that they are."""
import schemathesis


@schemathesis.serializer("application/x-ndjson")
def write_lines(ctx, value):
    return value.encode() if isinstance(value, str) else str(value).encode()


@schemathesis.deserializer("application/x-ndjson")
def read_lines(ctx, response):
    return response.content.decode()
