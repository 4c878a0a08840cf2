"""Proposes one call of a tool, waits for a human, prints the result. Python 3.8 or later and nothing else.

    KEYTURN_TOKEN=ktk1... python3 agent.py greet '{"name": "Grace"}' 'Say hello'

KEYTURN_SERVICE is the address, http://localhost:7717 unless told. KEYTURN_WAIT_S is the patience in seconds, 600 unless told.
Ends with 0 where it succeeded, 1 where it did not, 2 where the service refused or was not reached, 3 where it gave up.
"""
import json
import os
import signal
import sys
import time
import urllib.error
import urllib.request
import uuid

SERVICE = os.environ.get("KEYTURN_SERVICE", "http://localhost:7717")
PATIENCE_S = float(os.environ.get("KEYTURN_WAIT_S", "600"))


class Refused(Exception):
    """A no of the service: code, detail, advice and facts."""

    def __init__(self, problem):
        super().__init__("{code}: {detail} {advice}".format(**problem))
        self.code = problem["code"]


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """The token is for this address, and urllib would take it along to any other."""

    def redirect_request(self, *_):
        return None


# Without the proxy of the environment: the service is reached directly.
web = urllib.request.build_opener(NoRedirect, urllib.request.ProxyHandler({}))


def ask(verb, request, **headers):
    headers = {"Authorization": "Bearer " + os.environ["KEYTURN_TOKEN"], "Content-Type": "application/json", **headers}
    asked = urllib.request.Request(SERVICE + "/v1/" + verb, json.dumps(request).encode(), headers)
    try:
        with web.open(asked, timeout=90) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        if error.headers.get_content_type() != "application/problem+json":
            raise
        raise Refused(json.load(error)) from None


def surely(verb, request):
    """Asks again where the connection was lost. Only for what is the same when it is asked for twice."""
    for pause_s in (1, 2, 4):
        try:
            return ask(verb, request)
        except urllib.error.HTTPError:
            raise
        except OSError:
            time.sleep(pause_s)
    return ask(verb, request)


def wait_for(intent_id):
    """The result, or None where patience ends first."""
    until = time.monotonic() + PATIENCE_S
    while (left_s := until - time.monotonic()) > 0:
        asked_at = time.monotonic()
        try:
            return ask("intents/waitFor", {"intent_id": intent_id}, Prefer="wait=%d" % min(25, left_s + 1))
        except Refused as refused:
            if refused.code != "WAIT_OVER":
                raise
        # A service that stops answers at once.
        time.sleep(max(0, min(asked_at + 1, until) - time.monotonic()))
    return None


def stop(*_):
    raise KeyboardInterrupt


def main(tool, arguments, goal):
    signal.signal(signal.SIGTERM, stop)
    effect = {"kind": "tool", "tool": tool, "arguments": json.loads(arguments)}
    # The same key with the same request is the same intent.
    proposal = surely("intents/propose", {"declared_goal": goal, "effect": effect, "idempotency_key": str(uuid.uuid4())})
    result = None
    try:
        print("proposed", proposal["intent_id"], flush=True)
        result = wait_for(proposal["intent_id"])
    except KeyboardInterrupt:
        pass
    finally:
        if result is None:
            # Otherwise a human could still approve it, after this program has stopped waiting for it.
            back = {"intent_id": proposal["intent_id"], "reason": "The agent gave up.", "receipt": proposal["receipt"]}
            try:
                surely("intents/withdraw", back)
            except Refused as refused:
                # It runs by now, or has ended.
                print(refused, file=sys.stderr)
    if result is None:
        print(surely("intents/result", {"intent_id": proposal["intent_id"]})["status_word"])
        return 3
    print(result["status_word"], result["reason"] or "")
    print(((result["run"] or {}).get("output") or {}).get("stdout", ""), end="")
    return 0 if result["status_word"] == "succeeded" else 1


if __name__ == "__main__":
    if len(sys.argv) != 4 or "KEYTURN_TOKEN" not in os.environ:
        print(__doc__.strip(), file=sys.stderr)
        sys.exit(2)
    try:
        sys.exit(main(*sys.argv[1:]))
    except (Refused, ValueError) as error:
        print(error, file=sys.stderr)
    except OSError as error:
        print("No answer of %s: %s" % (SERVICE, error), file=sys.stderr)
    sys.exit(2)
