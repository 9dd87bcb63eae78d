"""Agents from the registry, from storage or from a program that speaks mjai; the experiment of run-time adaptation.

Start in agent_loading.py; CONTRIBUTING.md says how to add an agent.
"""
