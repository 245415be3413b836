"""Prints, as JSON, the name of everything in the account that a stack can leave behind."""

import json

import botocore.session

LISTINGS = [
    ("cloudformation", "describe_stacks", {}, "Stacks", "StackName"),
    ("apigatewayv2", "get_apis", {}, "Items", "Name"),
    ("lambda", "list_functions", {}, "Functions", "FunctionName"),
    ("sqs", "list_queues", {}, "QueueUrls", None),
    ("dynamodb", "list_tables", {}, "TableNames", None),
    ("secretsmanager", "list_secrets", {"IncludePlannedDeletion": True}, "SecretList", "Name"),
    ("iam", "list_roles", {}, "Roles", "RoleName"),
    ("iam", "list_policies", {"Scope": "Local"}, "Policies", "PolicyName"),
    ("logs", "describe_log_groups", {}, "logGroups", "logGroupName"),
    ("logs", "describe_metric_filters", {}, "metricFilters", "filterName"),
    ("cloudwatch", "describe_alarms", {}, "MetricAlarms", "AlarmName"),
    ("cloudwatch", "list_dashboards", {}, "DashboardEntries", "DashboardName"),
    ("sns", "list_topics", {}, "Topics", "TopicArn"),
    ("kms", "list_keys", {}, "Keys", "KeyId"),
    ("events", "list_rules", {}, "Rules", "Name"),
    ("s3", "list_buckets", {}, "Buckets", "Name"),
]


def is_deleted(client, service, item):
    """Whether nothing is left of it but a key of KMS, which keeps a deleted one for a month."""
    if service != "kms":
        return False
    state = client.describe_key(KeyId=item["KeyId"])["KeyMetadata"]["KeyState"]
    return state == "PendingDeletion"


session = botocore.session.get_session()
names = []
for service, operation, arguments, field, name in LISTINGS:
    client = session.create_client(service)
    pages = (
        client.get_paginator(operation).paginate(**arguments)
        if client.can_paginate(operation)
        else [getattr(client, operation)(**arguments)]
    )
    for page in pages:
        for item in page.get(field, []):
            if is_deleted(client, service, item):
                continue
            names.append(f"{service} {field} {item[name] if name else item}")
print(json.dumps(sorted(names)))
