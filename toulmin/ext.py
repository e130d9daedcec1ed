"""Public names for extensions: your own method, judge, model, reader, encoder, retriever or format.

`docs/python.md` shows each at work. A package is found by name through its entry points.
"""

from toulmin.data import Answer, Citation, Claim, Hit, Passage, Quote, Round, Source, Support, Tokens
from toulmin.driver.kit import Judge, Kit, LanguageModel, Reader, Retriever
from toulmin.errors import BudgetEnded, ModelError, SourceError, ToulminError, UsageError
from toulmin.formats.dialect import Dialect as Format
from toulmin.formats.dialect import DialectOutput, Piece
from toulmin.methods.repair import changes, final_text
from toulmin.models.scripted import ScriptedModel
from toulmin.parsing.citing import Draft
from toulmin.prompts import types as prompts
from toulmin.prompts.replies import Reply
from toulmin.prompts.types import Prompt
from toulmin.runtime.encoder import Encoder
from toulmin.steps import Generate, Pair, Program, Span, Verdict, entail, generate, read, search, show, together
from toulmin.verify import apply_policy, verify

__all__ = ["Answer", "Citation", "Claim", "Hit", "Passage", "Quote", "Round", "Source", "Support", "Tokens"]
__all__ += ["BudgetEnded", "ModelError", "SourceError", "ToulminError", "UsageError"]
__all__ += ["Encoder", "Judge", "Kit", "LanguageModel", "Reader", "Retriever", "ScriptedModel"]
__all__ += ["DialectOutput", "Draft", "Format", "Piece", "Prompt", "Reply", "prompts"]
__all__ += ["Generate", "Pair", "Program", "Span", "Verdict"]
__all__ += ["entail", "generate", "read", "search", "show", "together"]
__all__ += ["apply_policy", "changes", "final_text", "verify"]
