"""Graphs."""

from . import graphs
from .graphs import MUSAGraph, graph, graph_pool_handle, is_current_stream_capturing
