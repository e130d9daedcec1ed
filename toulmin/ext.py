"""Public names for extensions: your own method, judge, model, reader, encoder, retriever or format.

`docs/python.md` shows each at work. A package is found by name through its entry points.
"""

from toulmin.data import Answer as Answer
from toulmin.data import Citation as Citation
from toulmin.data import Claim as Claim
from toulmin.data import Hit as Hit
from toulmin.data import Passage as Passage
from toulmin.data import Quote as Quote
from toulmin.data import Round as Round
from toulmin.data import Source as Source
from toulmin.data import Support as Support
from toulmin.data import Tokens as Tokens
from toulmin.driver.kit import Judge as Judge
from toulmin.driver.kit import Kit as Kit
from toulmin.driver.kit import LanguageModel as LanguageModel
from toulmin.driver.kit import Reader as Reader
from toulmin.driver.kit import Retriever as Retriever
from toulmin.errors import BudgetEnded as BudgetEnded
from toulmin.errors import ModelError as ModelError
from toulmin.errors import SourceError as SourceError
from toulmin.errors import ToulminError as ToulminError
from toulmin.errors import UsageError as UsageError
from toulmin.formats.dialect import Dialect as Format
from toulmin.formats.dialect import DialectOutput as DialectOutput
from toulmin.formats.dialect import Piece as Piece
from toulmin.methods.repair import changes as changes
from toulmin.methods.repair import final_text as final_text
from toulmin.models.scripted import ScriptedModel as ScriptedModel
from toulmin.parsing.citing import Draft as Draft
from toulmin.prompts import types as prompts
from toulmin.prompts.replies import Reply as Reply
from toulmin.prompts.types import Prompt as Prompt
from toulmin.runtime.encoder import Encoder as Encoder
from toulmin.steps import Generate as Generate
from toulmin.steps import Pair as Pair
from toulmin.steps import Program as Program
from toulmin.steps import Span as Span
from toulmin.steps import Verdict as Verdict
from toulmin.steps import entail as entail
from toulmin.steps import generate as generate
from toulmin.steps import read as read
from toulmin.steps import search as search
from toulmin.steps import show as show
from toulmin.steps import together as together
from toulmin.verify import apply_policy as apply_policy
from toulmin.verify import verify as verify

__all__ = ["Format", "prompts"]  # the others have their own names
