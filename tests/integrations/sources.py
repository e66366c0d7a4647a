"""What the formats of other tools look like when people and agents write them."""

PRD = "# Rate limiting of the API\n\nWe fall over. <!channel> asked for it.\n\n## Background\n\n- Two outages in May\n"

OPENSPEC = {
    "proposal.md": """\
# Change: Limit each client

## Why

One client can take the API down.

## What Changes

- A limit for each client
""",
    "specs/limits/spec.md": """\
## ADDED Requirements

### Requirement: Limit per client
The API SHALL refuse a client's 101st call
in a minute.

#### Scenario: over the limit
- **GIVEN** 100 calls in this minute
- **WHEN** the next one comes
- **THEN** it gets 429
- **AND** a Retry-After

## REMOVED Requirements

### Requirement: Limit per address
**Reason**: clients share addresses
""",
    "design.md": "## Goals / Non-Goals\n\n**Non-Goals:**\n- Billing\n",
    "tasks.md": "## 1. Counting\n\n- [x] 1.1 Choose a store\n- [ ] 1.2 Count the calls\n",
}

SPECKIT = {
    "spec.md": """\
# Feature Specification: Limit each client

**Feature Branch**: `001-limits`

## User Scenarios & Testing *(mandatory)*

<!--
  ACTION REQUIRED:
- **FR-900**: an example of the template
-->

### User Story 1 - Fair use (Priority: P1)

As an operator, I want fair use so that nobody starves.

**Acceptance Scenarios**:

1. **Given** 100 calls, **When** the next one comes, **Then** it gets 429

### Edge Cases

- What happens when Redis is away?

## Requirements *(mandatory)*

### Functional Requirements

- **FR-001**: System MUST count the calls of each client
- **FR-007**: System MUST say when to come back

### Key Entities

- **Client**: who has a key

## Success Criteria *(mandatory)*

### Measurable Outcomes

- **SC-001**: No outage by a single client
""",
    "plan.md": "# Implementation Plan: Limit each client\n\n## Summary\n\nRedis.\n",
    "tasks.md": "# Tasks: Limit each client\n\n## Phase 1: Setup\n\n- [ ] T001 [P] Set up Redis in deploy/\n",
}

KIRO = {
    "requirements.md": """\
# Requirements Document

## Introduction

Clients share one API.

## Requirements

### Requirement 1

**User Story:** As an operator, I want a limit, so that nobody starves

#### Acceptance Criteria

1. WHEN the 101st call comes THEN the system SHALL answer 429
2. IF Redis is away THEN the system SHALL let calls pass

### Requirement 2: Raising a limit

**User Story:** As an operator, I want to raise a limit, so that big clients stay

#### Acceptance Criteria

1. WHEN an operator raises it THEN the system SHALL use it within a minute
""",
    "design.md": "# Design Document\n\n## Overview\n\nRedis.\n",
    "tasks.md": "# Implementation Plan\n\n- [ ] 1. Count the calls\n  - _Requirements: 1.1_\n- [ ]* 1.1 Test it\n",
}
