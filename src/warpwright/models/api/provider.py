"""One request to a provider's server. The only file that imports pydantic_ai, at the first call.

Every call has its own event loop and its own connection, so that threads share nothing.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, cast

from warpwright.core.errors import ModelFailed, UsageError
from warpwright.core.protocols import Reply, Request
from warpwright.models.api.failures import AttemptFailed
from warpwright.models.spending.prices import Prices, most_tokens

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelRequest, ModelResponse, UserContent
    from pydantic_ai.models import Model, ModelRequestParameters
    from pydantic_ai.settings import ModelSettings
    from pydantic_ai.usage import RequestUsage

DEFAULT_DEADLINE_S = 1200.0
EFFORTS = ("minimal", "low", "medium", "high", "xhigh", "max")
_LONGEST_EXCERPT = 240
_FILTERED = ("content_filter", "content_policy_violation", "invalid_prompt")


class Wire(StrEnum):
    """The protocols of model servers."""

    RESPONSES = "responses"
    """OpenAI's Responses API."""
    CHAT = "chat"
    """OpenAI's Chat Completions API, which every compatible server supports."""
    ANTHROPIC = "anthropic"
    GOOGLE = "google"


_PACKAGES = {Wire.RESPONSES: "openai", Wire.CHAT: "openai", Wire.ANTHROPIC: "anthropic", Wire.GOOGLE: "google.genai"}


@dataclass(slots=True, kw_only=True)
class Provider:
    """A model on a server. `structured` tells whether the server accepts a JSON schema."""

    name: str
    wire: Wire
    model: str
    url: str
    key: str | None
    key_variable: str
    prices: Prices
    stream: bool = False
    structured: bool = True
    deadline_s: float = DEFAULT_DEADLINE_S

    def __post_init__(self) -> None:
        if not _installed("pydantic_ai") or not _installed(_PACKAGES[self.wire]):
            raise UsageError(f"{self.name} needs its client library: pip install 'warpwright[llm]'")

    def ceiling(self, request: Request) -> float | None:
        return self.prices.ceiling(self.name, most_tokens(request), request.max_tokens)

    def complete(self, request: Request) -> Reply:
        begun = time.monotonic()
        try:
            response = _finished(self._answered(request))
        except ModelFailed:
            raise
        except Exception as error:
            raise self._failed(error) from error
        return self._reply(request, response, time.monotonic() - begun)

    async def _answered(self, request: Request) -> ModelResponse:
        from pydantic_ai.direct import model_request, model_request_stream

        # The client's timeout applies to silence only; ours ends an answer that never stops. It includes loading the
        # client library.
        async with self._opened() as model, asyncio.timeout(self.deadline_s):
            messages = [self._asked(request)]
            settings, parameters = self._settings(model, request), self._parameters(model, request)
            if not self.stream:
                return await model_request(
                    model, messages, model_settings=settings, model_request_parameters=parameters, instrument=False
                )
            async with model_request_stream(
                model, messages, model_settings=settings, model_request_parameters=parameters, instrument=False
            ) as stream:
                async for _ in stream:
                    pass
            return stream.get()

    def _asked(self, request: Request) -> ModelRequest:
        """The prompt; for providers that cache on request, it is marked where its shared part ends."""
        from pydantic_ai.messages import CachePoint, ModelRequest, UserPromptPart

        if not request.shared or self.wire is not Wire.ANTHROPIC:
            return ModelRequest.user_text_prompt(request.prompt)
        content: list[UserContent] = [request.prompt[: request.shared], CachePoint(), request.prompt[request.shared :]]
        return ModelRequest(parts=[UserPromptPart(content=content)])

    def _opened(self) -> Model:
        key = self.key or "none"
        match self.wire:
            case Wire.RESPONSES:
                from pydantic_ai.models.openai import OpenAIResponsesModel
                from pydantic_ai.providers.openai import OpenAIProvider

                return OpenAIResponsesModel(self.model, provider=OpenAIProvider(base_url=self.url, api_key=key))
            case Wire.CHAT:
                return self._compatible(key)
            case Wire.ANTHROPIC:
                from pydantic_ai.models.anthropic import AnthropicModel
                from pydantic_ai.providers.anthropic import AnthropicProvider

                return AnthropicModel(self.model, provider=AnthropicProvider(base_url=self.url, api_key=key))
            case Wire.GOOGLE:
                from pydantic_ai.models.google import GoogleModel
                from pydantic_ai.providers.google import GoogleProvider

                return GoogleModel(self.model, provider=GoogleProvider(base_url=self.url, api_key=key))

    def _compatible(self, key: str) -> Model:
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.profiles.openai import OpenAIModelProfile
        from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

        # `max_tokens` is the parameter that all of these servers support.
        profile = OpenAIModelProfile(openai_chat_supports_max_completion_tokens=False)
        provider = OpenAICompatibleProvider("server", base_url=self.url, api_key=key, profile=profile)
        return OpenAIChatModel(self.model, provider=provider)

    def _settings(self, model: Model, request: Request) -> ModelSettings:
        settings: dict[str, Any] = {
            "max_retries": 0,
            "timeout": self.deadline_s,
            "request_timeout": self.deadline_s,
        }
        if self.wire is Wire.RESPONSES:
            settings["openai_store"] = False
        if request.max_tokens is not None:
            settings["max_tokens"] = request.max_tokens
        if request.temperature is not None and self._takes_temperature(dict(model.profile), request.effort):
            # Anthropic's range ends at 1, all others' at 2.
            warmest = 1.0 if self.wire is Wire.ANTHROPIC else 2.0
            settings["temperature"] = min(request.temperature, warmest)
        if request.effort is not None:
            settings |= self._effort(request.effort)
        return cast("ModelSettings", settings)

    def _takes_temperature(self, profile: dict[str, Any], effort: str | None) -> bool:
        """Whether the model accepts a temperature: reasoning models reject the request if it has one."""
        if self.wire is Wire.GOOGLE:
            return True
        if self.wire is Wire.ANTHROPIC:
            thinks = effort is not None and profile.get("supports_thinking", False)
            return not thinks and not profile.get("anthropic_disallows_sampling_settings", False)
        thinks = effort is not None or profile.get("thinking_enabled_by_default", False)
        return not (profile.get("openai_supports_reasoning", False) and thinks)

    def _effort(self, effort: str) -> dict[str, str]:
        if self.wire is Wire.CHAT:
            return {"openai_reasoning_effort": effort}
        if effort not in EFFORTS:
            raise ModelFailed("model", f"{self.name} knows no effort '{effort}'; use one of {', '.join(EFFORTS)}")
        return {"thinking": effort}

    def _parameters(self, model: Model, request: Request) -> ModelRequestParameters:
        from pydantic_ai.models import ModelRequestParameters
        from pydantic_ai.output import OutputObjectDefinition

        if request.schema is None or not self._keeps_to_schemas(model):
            return ModelRequestParameters()
        wanted = OutputObjectDefinition(json_schema=dict(request.schema))
        return ModelRequestParameters(output_mode="native", output_object=wanted)

    def _keeps_to_schemas(self, model: Model) -> bool:
        return self.structured and bool(model.profile.get("supports_json_schema_output", False))

    def _reply(self, request: Request, response: ModelResponse, seconds: float) -> Reply:
        from pydantic_ai.messages import TextPart

        text = "".join(part.content for part in response.parts if isinstance(part, TextPart))
        usage = _usage(response.usage)
        cost = self.prices.cost(self.name, usage)
        if problem := self._problem(response, text):
            raise AttemptFailed(*problem, cost_usd=cost, usage=usage)
        parsed = _parsed(text) if self.structured and request.schema is not None else None
        return Reply(text=text, model=self.name, usage=usage, cost_usd=cost, parsed=parsed, seconds=seconds)

    def _problem(self, response: ModelResponse, text: str) -> tuple[str, str] | None:
        """Returns the kind of failure and a sentence if the response is no usable answer."""
        said = response.provider_details or {}
        if response.finish_reason == "content_filter" or "refusal" in said:
            return "refused", f"{self.name} refused to answer{_because(said.get('refusal'))}"
        if response.finish_reason == "length":
            return "truncated", f"{self.name} reached the largest length of an answer before its end"
        # A stream that breaks between two events looks complete except for the missing finish reason.
        if said.get("finish_reason") is None and (self.stream or self.wire is not Wire.CHAT):
            return "truncated", f"{self.name} ended its answer without saying that it was finished"
        if response.finish_reason == "error":
            return "server", f"{self.name} gave up on its answer{_because(said.get('finish_reason'))}"
        return None if text.strip() else ("malformed", f"{self.name} gave an empty answer")

    def _failed(self, error: Exception) -> AttemptFailed:
        """Converts an exception of the client library."""
        from pydantic_ai import exceptions as their

        match error:
            case TimeoutError():
                return self._late()
            case their.ModelHTTPError():
                return self._rejected(error)
            case their.ModelRequestTimeout() | their.ModelConnectionError():
                return self._no_response(error)
            case their.ModelAPIError() if error.in_stream:
                return AttemptFailed(
                    "server", f"{self.name} failed in its answer{self._because(error)}", retryable=True
                )
            case their.ContentFilterError():
                return AttemptFailed("refused", f"{self.name} refused to answer{self._because(error)}")
            case their.UserError():
                return AttemptFailed("model", f"{self.name} cannot be asked this{self._because(error)}", cost_usd=0.0)
        return AttemptFailed("malformed", f"{self.name} sent something that is no answer{self._because(error)}")

    def _no_response(self, error: Any) -> AttemptFailed:
        """Converts connection failures and timeouts. The cost is zero if nothing was sent, otherwise unknown."""
        from pydantic_ai import exceptions as their

        unsent = getattr(error, "phase", None) in ("pool", "connect")
        late = isinstance(error, their.ModelRequestTimeout | their.ModelTimeoutError) and not unsent
        if late:
            return self._late()
        where = f"{self.name} cannot be reached at {self.url}, or broke off"
        return AttemptFailed("unreachable", where, retryable=True, cost_usd=0.0 if unsent else None)

    def _late(self) -> AttemptFailed:
        return AttemptFailed("timeout", f"{self.name} gave no answer within {self.deadline_s:g} s", retryable=True)

    def _rejected(self, error: Any) -> AttemptFailed:
        """Converts a status of 400 and above. The cost is zero unless an answer had begun."""
        kind, what = self._meaning(error)
        return AttemptFailed(
            kind,
            f"{self.name} {what}{self._because(error)}",
            retryable=kind in ("rate", "timeout") or error.status_code >= 500,
            wait_s=error.retry_after,
            cost_usd=None if error.in_stream else 0.0,
        )

    def _meaning(self, error: Any) -> tuple[str, str]:
        from pydantic_ai import exceptions as their

        match error:
            case their.ModelAuthenticationError() if self.key:
                return "key", f"does not accept the key in {self.key_variable}"
            case their.ModelAuthenticationError():
                return "key", f"wants a key; set {self.key_variable}"
            case their.ModelQuotaExceededError():
                return "key", f"has no credit left for the key in {self.key_variable}"
            case their.ModelNotFoundError():
                return "model", f"is not known at {self.url}"
            case their.ModelRateLimitError():
                return "rate", "wants fewer calls"
            case _ if error.provider_error_code in _FILTERED:
                return "refused", "refused to answer"
            case _ if error.status_code == 408:
                return "timeout", "took too long"
        return (
            "server",
            f"failed with status {error.status_code}" if error.status_code >= 500 else "rejected the request",
        )

    def _because(self, error: Any) -> str:
        """Returns the server's message without our key."""
        said = _message(getattr(error, "body", None)) or str(error) or type(error).__name__
        return _because(said.replace(self.key, "[key]") if self.key else said)


def _finished(coroutine: Coroutine[Any, Any, ModelResponse]) -> ModelResponse:
    """Runs a coroutine to its end, even if an event loop is running already, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    with ThreadPoolExecutor(1) as aside:
        return aside.submit(asyncio.run, coroutine).result()


def _installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:
        return False


def _usage(usage: RequestUsage) -> dict[str, int]:
    """Counts tokens by kind; cached and written ones are part of the input, reasoning is part of the output. Empty if
    the server did not count.
    """
    if usage.unmeasured_requests:
        return {}
    parts = {
        "cached": usage.cache_read_tokens,
        "cache_written": usage.cache_write_tokens,
        "reasoning": usage.output_reasoning_tokens,
    }
    totals = {"input": usage.input_tokens, "output": usage.output_tokens}
    return totals | {kind: count for kind, count in parts.items() if count}


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return None


def _message(body: object) -> str | None:
    """Returns the message in an error's body, whatever its nesting."""
    while isinstance(body, dict):
        body = body.get("message") or body.get("error") or body.get("detail")
    return body if isinstance(body, str) else None


def _because(reason: object) -> str:
    said = " ".join(str(reason or "").split())
    return f": {said[:_LONGEST_EXCERPT]}" if said else ""
