"""Mixed precision."""

from . import autocast_mode, common, grad_scaler
from .autocast_mode import autocast, custom_bwd, custom_fwd
from .common import amp_definitely_not_available, get_amp_supported_dtype
from .grad_scaler import GradScaler
